package play

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// The purposes of the streams of a game. Changing them, or how streams are made, changes every game.
const (
	spawnStream  = "spawns"
	playerStream = "player"
)

// source is a stream of random numbers that can be set to any game.
type source struct {
	pcg rand.PCG
	rng *rand.Rand
}

func newSource() *source {
	s := &source{}
	s.rng = rand.New(&s.pcg)
	return s
}

// seek goes to the start of the stream of a game. Streams of different seeds, games or purposes have nothing to do with each other.
func (s *source) seek(seed uint64, index int64, purpose string) {
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], seed)
	binary.BigEndian.PutUint64(key[8:], uint64(index))
	copy(key[16:], purpose)
	sum := sha256.Sum256(key[:])
	s.pcg.Seed(binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:]))
}

package play

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// The purposes of the two random streams of a game. A change of these names, or of seek, changes every game.
const (
	spawnStream  = "spawns"
	playerStream = "player"
)

// source is a random stream that can be set to the start of any game.
type source struct {
	pcg rand.PCG
	rng *rand.Rand
}

func newSource() *source {
	s := &source{}
	s.rng = rand.New(&s.pcg)
	return s
}

// seek sets the source to the start of a game's stream. Streams with different seeds, indices or purposes are independent.
func (s *source) seek(seed uint64, index int64, purpose string) {
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], seed)
	binary.BigEndian.PutUint64(key[8:], uint64(index))
	copy(key[16:], purpose)
	digest := sha256.Sum256(key[:])
	s.pcg.Seed(binary.BigEndian.Uint64(digest[:]), binary.BigEndian.Uint64(digest[8:]))
}

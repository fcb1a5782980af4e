package compile

// Stream is the random stream of one sample: the state of a xoshiro256**
// generator. The same stream drives the interpreter and the compiled machine.
//
// Source: Blackman and Vigna, Scrambled linear pseudorandom number generators, 2021.
type Stream [4]uint64

// NewStream returns the stream of sample index under seed. Streams depend on
// nothing else, so a sample is the same whichever worker draws it. Both numbers
// are mixed through SplitMix64, as the generator's authors advise.
func NewStream(seed, index uint64) Stream {
	x := splitmix(&seed)
	x ^= index
	y := splitmix(&x)
	var s Stream
	for i := range s {
		s[i] = splitmix(&y)
	}
	return s
}

func splitmix(x *uint64) uint64 {
	*x += 0x9e3779b97f4a7c15
	z := *x
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

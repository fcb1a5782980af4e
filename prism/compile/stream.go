package compile

// Stream is the random stream of one sample: the state of a xoshiro256**
// generator. The same stream drives the interpreter and the compiled machine.
//
// Source: Blackman and Vigna, Scrambled linear pseudorandom number generators, 2021.
type Stream [4]uint64

// NewStream returns the stream of the sample with the given index. It depends only on seed and index, and not on the worker that draws the
// sample. Both numbers are mixed by SplitMix64, as the generator's authors advise.
func NewStream(seed, index uint64) Stream {
	seedMix := splitMix64(&seed)
	seedMix ^= index
	state := splitMix64(&seedMix)
	var stream Stream
	for i := range stream {
		stream[i] = splitMix64(&state)
	}
	return stream
}

// splitMix64 returns the next number of the generator SplitMix64 and advances its state.
func splitMix64(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	mixed := *state
	mixed = (mixed ^ mixed>>30) * 0xbf58476d1ce4e5b9
	mixed = (mixed ^ mixed>>27) * 0x94d049bb133111eb
	return mixed ^ mixed>>31
}

package compile

// Stream is the random stream of one sample: the state of a xoshiro256**
// generator. The same stream drives the interpreter and the compiled machine.
//
// Source: Blackman and Vigna, Scrambled linear pseudorandom number generators, 2021.
type Stream [4]uint64

// NewStream returns the stream of the sample with the given index. Streams depend
// on nothing but seed and index, so the worker that draws a sample does not
// matter. SplitMix64 mixes both numbers, as the generator's authors advise.
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

// splitMix64 returns the next number of the generator SplitMix64 and advances its state x.
func splitMix64(x *uint64) uint64 {
	*x += 0x9e3779b97f4a7c15
	z := *x
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

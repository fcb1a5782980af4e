package certify_test

import (
	"bytes"
	"math/big"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
)

// walk is a fair walk between 0 and n-1, and the certificate of the probability that it
// ends above: the line between 0 and 1, rounded to multiples of a step. In an MDP each
// state has two choices.
func walk(n int, kind certificate.Kind) *certificate.File {
	m := &certificate.Model{Kind: kind, Numbers: []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 1), new(big.Rat)}, Initial: certificate.NewBits(n)}
	m.Initial.Add(n / 2)
	add := func(numbers []uint32, targets ...int) {
		m.FirstTransition = append(m.FirstTransition, uint32(len(m.Target)))
		for k, t := range targets {
			m.Target, m.Prob = append(m.Target, uint32(t)), append(m.Prob, numbers[k])
		}
	}
	for s := range n {
		if kind == certificate.MDP {
			m.FirstChoice = append(m.FirstChoice, uint32(len(m.FirstTransition)))
		}
		if s == 0 || s == n-1 {
			add([]uint32{1}, s)
			continue
		}
		add([]uint32{0, 0}, s-1, s+1)
		if kind == certificate.MDP {
			add([]uint32{0, 0}, s+1, s-1)
		}
	}
	m.FirstTransition = append(m.FirstTransition, uint32(len(m.Target)))
	if kind == certificate.MDP {
		m.FirstChoice = append(m.FirstChoice, uint32(len(m.FirstTransition)-1))
	}
	goal, line, rank := certificate.NewBits(n), &certificate.Values{Scale: 39, Fixed: make([]uint64, n)}, make([]uint32, n)
	goal.Add(n - 1)
	step := uint64(1<<39) / uint64(n-1)
	for s := range n {
		line.Fixed[s] = uint64(s) * step
		rank[s] = uint32(n - 1 - s)
	}
	upper := *line
	upper.Fixed = append([]uint64(nil), line.Fixed...)
	upper.Fixed[n-1] = 1 << 39
	for s := range upper.Fixed[:n-1] {
		upper.Fixed[s] = 1<<39 - uint64(n-1-s)*step
	}
	lower := *line
	return &certificate.File{
		Model:   m,
		Sets:    []certificate.Set{{Kind: certificate.All}, {Kind: certificate.Init}, {Kind: certificate.Atomic, Text: "up", Bits: goal}},
		Vectors: []certificate.Vector{{Kind: certificate.Until, Right: 2, Lower: &lower, Upper: &upper, Rank: rank}},
		Claims:  []certificate.Claim{{OverSet: 1}},
	}
}

// BenchmarkCheck checks a certificate of a million states, in memory and as a file.
func BenchmarkCheck(b *testing.B) {
	for _, kind := range []certificate.Kind{certificate.DTMC, certificate.MDP} {
		f := walk(1_000_000, kind)
		text := written(b, f)
		b.Run(string(kind), func(b *testing.B) {
			for b.Loop() {
				if out, err := certify.Check(b.Context(), f); err != nil || out[0].Err != nil {
					b.Fatal(err, out)
				}
			}
		})
		b.Run(string(kind)+"/read", func(b *testing.B) {
			for b.Loop() {
				if _, err := certificate.Read(b.Context(), bytes.NewReader(text), certificate.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(text)))
		})
	}
}

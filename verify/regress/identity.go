package regress

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// identity returns a text that identifies a test: the names of its files, its switches and constants. It does not depend
// on other tests.
func (s *subject) identity() string {
	model, props := s.switches.Model, s.switches.Props
	if model == "" && props == "" { // switches with mistakes
		model, props = s.Model, s.Props
	}
	words := []string{s.opt.name(s.Dir), s.opt.name(model), s.opt.name(props), strconv.Itoa(len(s.Args))}
	return strings.Join(slices.Concat(words, s.Args, s.Consts), "\x00")
}

// idLength is the number of hexadecimal digits of an identity.
const idLength = 10

func shortID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])[:idLength]
}

// identify sets the identities of the items, and selects those in only, or all if only is empty. It adds the identities
// to known.
func (s *subject) identify(only []string, known map[string]bool) {
	own := s.identity()
	known[shortID(own)] = true
	s.wanted = len(only) == 0 || slices.Contains(only, shortID(own))
	seen := make(map[string]int)
	for _, it := range s.items {
		key := []string{own, it.task.Name, it.task.Text}
		for _, c := range it.constants() {
			key = append(key, c.Name+"="+c.Value)
		}
		text := strings.Join(key, "\x00")
		seen[text]++ // properties may be written twice
		it.id = shortID(text, strconv.Itoa(seen[text]))
		known[it.id] = true
		it.keep = s.wanted || slices.Contains(only, it.id)
	}
}

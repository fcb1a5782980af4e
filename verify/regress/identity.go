package regress

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// identity returns a text that identifies a test: the names of its files, its switches and its constants. It does not depend on other tests.
func (s *loadedTest) identity() string {
	model, props := s.switches.Model, s.switches.Props
	if model == "" && props == "" { // switches with mistakes
		model, props = s.Model, s.Props
	}
	parts := []string{s.opt.name(s.Dir), s.opt.name(model), s.opt.name(props), strconv.Itoa(len(s.Args))}
	return strings.Join(slices.Concat(parts, s.Args, s.Consts), "\x00")
}

// idLength is the number of hexadecimal digits of an identity.
const idLength = 10

// shortID returns a short hash of some texts.
func shortID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])[:idLength]
}

// identify sets the identities of the property instances, and selects the instances whose identity is in only; all if only is empty. It adds
// every identity to known.
func (s *loadedTest) identify(only []string, known map[string]bool) {
	testIdentity := s.identity()
	known[shortID(testIdentity)] = true
	s.wantsRunResults = len(only) == 0 || slices.Contains(only, shortID(testIdentity))
	seen := make(map[string]int)
	for _, instance := range s.instances {
		key := []string{testIdentity, instance.task.Name, instance.task.Text}
		for _, constant := range instance.constants() {
			key = append(key, constant.Name+"="+constant.Value)
		}
		text := strings.Join(key, "\x00")
		seen[text]++ // a file may have the same property twice
		instance.id = shortID(text, strconv.Itoa(seen[text]))
		known[instance.id] = true
		instance.selected = s.wantsRunResults || slices.Contains(only, instance.id)
	}
}

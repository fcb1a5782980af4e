package regress

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// identity returns a text that identifies the test: its file names, switches and constants.
func (test *loadedTest) identity() string {
	model, props := test.switches.Model, test.switches.Props
	if model == "" && props == "" { // the switches could not be parsed
		model, props = test.Model, test.Props
	}
	fields := []string{test.options.name(test.Dir), test.options.name(model), test.options.name(props), strconv.Itoa(len(test.Args))}
	return strings.Join(slices.Concat(fields, test.Args, test.Consts), "\x00")
}

// idLength is the number of hexadecimal digits of an identity.
const idLength = 10

// shortID returns a short hash of some texts.
func shortID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])[:idLength]
}

// setIdentities gives each property instance an identity. It selects the instances that selectedIDs names, or all if it is empty. It returns the
// identities of the test and of its instances.
func (test *loadedTest) setIdentities(selectedIDs []string) (ids []string) {
	testIdentity := test.identity()
	testID := shortID(testIdentity)
	ids = []string{testID}
	test.wantsRunResults = len(selectedIDs) == 0 || slices.Contains(selectedIDs, testID)
	occurrences := make(map[string]int)
	for _, instance := range test.instances {
		identityTexts := []string{testIdentity, instance.task.Name, instance.task.Text}
		for _, constant := range instance.constants() {
			identityTexts = append(identityTexts, constant.Name+"="+constant.Value)
		}
		text := strings.Join(identityTexts, "\x00")
		occurrences[text]++ // a file may have the same property twice
		instance.id = shortID(text, strconv.Itoa(occurrences[text]))
		instance.selected = test.wantsRunResults || slices.Contains(selectedIDs, instance.id)
		ids = append(ids, instance.id)
	}
	return ids
}

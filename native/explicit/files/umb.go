package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The UMB format, version 1, is a tar file of a directory: index.json says what the
// model is, and the others are columns of numbers, little-endian: offsets (one more
// than there are rows), values of one size, or bits.
//
// Source: github.com/pmc-tools/umb, spec.md of 26 January 2026.
const (
	umbVersion = 1

	umbIndexFile     = "index.json"
	umbStateChoices  = "state-to-choices.bin"
	umbChoiceRows    = "choice-to-branches.bin"
	umbTargets       = "branch-to-target.bin"
	umbProbabilities = "branch-to-probability.bin"
	umbExitRates     = "state-to-exit-rate.bin"
	umbInitial       = "state-is-initial.bin"
	umbValuations    = "valuations/states/valuations.bin"
)

// umbIndex is index.json.
type umbIndex struct {
	Version     uint64                  `json:"format-version"`
	Revision    uint64                  `json:"format-revision"`
	ModelData   json.RawMessage         `json:"model-data,omitempty"`
	FileData    *umbFileData            `json:"file-data,omitempty"`
	System      umbSystem               `json:"transition-system"`
	Annotations ordered[umbGroup]       `json:"annotations,omitzero"`
	Valuations  map[string]umbValuation `json:"valuations,omitempty"`
}

type umbFileData struct {
	Tool         string          `json:"tool,omitempty"`
	ToolVersion  string          `json:"tool-version,omitempty"`
	CreationDate json.RawMessage `json:"creation-date,omitempty"`
	Parameters   json.RawMessage `json:"parameters,omitempty"`
}

type umbSystem struct {
	Time            string   `json:"time"`
	Players         uint64   `json:"#players"`
	States          uint64   `json:"#states"`
	InitialStates   uint64   `json:"#initial-states"`
	Choices         uint64   `json:"#choices"`
	ChoiceActions   uint64   `json:"#choice-actions"`
	Branches        uint64   `json:"#branches"`
	BranchActions   uint64   `json:"#branch-actions"`
	Observations    uint64   `json:"#observations"`
	ObservationsOf  string   `json:"observations-apply-to,omitempty"`
	Probability     *umbType `json:"branch-probability-type,omitempty"`
	ExitRate        *umbType `json:"exit-rate-type,omitempty"`
	ObservationType *umbType `json:"observation-probability-type,omitempty"`
	PlayerNames     []string `json:"player-names,omitempty"`
}

type umbType struct {
	Type string `json:"type"`
	Size uint64 `json:"size,omitempty"` // in bits; 0 is the default of the type
}

// bits is the size of a value.
func (t *umbType) bits() uint64 {
	if t.Size > 0 {
		return t.Size
	}
	switch t.Type {
	case "bool":
		return 1
	case "rational", "int-interval", "uint-interval", "double-interval":
		return 128
	case "rational-interval":
		return 256
	}
	return 64
}

// number returns what is wrong with the type of a column of numbers.
func (t *umbType) number() error {
	switch {
	case t == nil:
		return errors.New("found no type, wanted double or rational")
	case t.Type == "double" && t.bits() == 64, t.Type == "rational" && t.bits()%128 == 0 && t.bits() <= 1<<20:
		return nil
	case strings.HasSuffix(t.Type, "-interval"):
		return fmt.Errorf("found numbers of type %s, and intervals are not supported, wanted double or rational", t.Type)
	}
	return fmt.Errorf("found numbers of type %q with %d bits, wanted double with 64 or rational with a multiple of 128", t.Type, t.bits())
}

// umbGroup are the annotations of one kind, by their identifiers.
type umbGroup = ordered[umbAnnotation]

type umbAnnotation struct {
	Alias         *string  `json:"alias,omitempty"`
	Description   string   `json:"description,omitempty"`
	AppliesTo     []string `json:"applies-to"`
	Type          umbType  `json:"type"`
	Lower         any      `json:"lower,omitempty"`
	Upper         any      `json:"upper,omitempty"`
	Strings       uint64   `json:"#strings,omitempty"`
	Probability   *umbType `json:"probability-type,omitempty"`
	Probabilities uint64   `json:"#probabilities,omitempty"`
}

type umbValuation struct {
	Unique  bool       `json:"unique"`
	Strings uint64     `json:"#strings,omitempty"`
	Classes []umbClass `json:"classes"`
}

type umbClass struct {
	Variables []umbVariable `json:"variables"`
}

type umbVariable struct {
	Padding  uint64   `json:"padding,omitempty"`
	Name     string   `json:"name,omitempty"`
	Optional bool     `json:"is-optional,omitempty"`
	Type     *umbType `json:"type,omitempty"`
	Lower    *int64   `json:"lower,omitempty"`
	Upper    *int64   `json:"upper,omitempty"`
	Offset   int64    `json:"offset,omitempty"`
}

// ordered is an object of JSON whose members have an order: PRISM's first reward
// structure is the first one.
type ordered[T any] []member[T]

type member[T any] struct {
	name  string
	value T
}

// IsZero leaves out an object without members.
func (o ordered[T]) IsZero() bool { return len(o) == 0 }

// MarshalJSON implements json.Marshaler.
func (o ordered[T]) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		text, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		out.WriteString(strconv.Quote(m.name) + ":") // letters, digits, - and _
		out.Write(text)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// UnmarshalJSON implements json.Unmarshaler. A name that is there twice is an error.
func (o *ordered[T]) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("found %s, wanted an object", quote(text))
	}
	seen := make(map[string]bool)
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		m := member[T]{name: t.(string)} // keys are
		if !isUMBName(m.name) || seen[m.name] {
			return fmt.Errorf("found the identifier %s, wanted each once, of the letters a to z, digits, - and _", quote([]byte(m.name)))
		}
		seen[m.name] = true
		if err := dec.Decode(&m.value); err != nil {
			return err
		}
		*o = append(*o, m)
	}
	return nil
}

// get returns the member with a name.
func (o ordered[T]) get(name string) (value T) {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return value
}

func isUMBName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// umbName makes an identifier of a name, other than those there are.
func umbName(name string, taken func(string) bool) string {
	id := []byte(strings.ToLower(name))
	for i, c := range id {
		if !isUMBName(string(c)) {
			id[i] = '_'
		}
	}
	out := string(id)
	if out == "" {
		out = "_"
	}
	for n := 2; taken(out); n++ {
		out = string(id) + "_" + strconv.Itoa(n)
	}
	return out
}

package umb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Version is the version of the format that this package reads and writes.
const Version = 1

// The names of members.
const (
	IndexFile     = "index.json"
	StateChoices  = "state-to-choices.bin"
	StatePlayers  = "state-to-player.bin"
	ChoiceRows    = "choice-to-branches.bin"
	Targets       = "branch-to-target.bin"
	Probabilities = "branch-to-probability.bin"
	ExitRates     = "state-to-exit-rate.bin"
	Initial       = "state-is-initial.bin"
	Valuations    = "valuations/states/valuations.bin"
)

// Index is the content of index.json, which describes the model and the other members.
type Index struct {
	Version     uint64               `json:"format-version"`
	Revision    uint64               `json:"format-revision"`
	ModelData   json.RawMessage      `json:"model-data,omitempty"`
	FileData    *FileData            `json:"file-data,omitempty"`
	System      System               `json:"transition-system"`
	Annotations Ordered[Group]       `json:"annotations,omitzero"`
	Valuations  map[string]Valuation `json:"valuations,omitempty"`
}

// FileData says which program wrote a file, and when.
type FileData struct {
	Tool         string          `json:"tool,omitempty"`
	ToolVersion  string          `json:"tool-version,omitempty"`
	CreationDate json.RawMessage `json:"creation-date,omitempty"`
	Parameters   json.RawMessage `json:"parameters,omitempty"`
}

// System describes the kind and the size of a model.
type System struct {
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
	Probability     *Type    `json:"branch-probability-type,omitempty"`
	ExitRate        *Type    `json:"exit-rate-type,omitempty"`
	ObservationType *Type    `json:"observation-probability-type,omitempty"`
	PlayerNames     []string `json:"player-names,omitempty"`
}

// Type is the type of the values of a column.
type Type struct {
	Type string `json:"type"`
	Size uint64 `json:"size,omitempty"` // in bits; 0 is the default of the type
}

// Bits returns the size of a value in bits.
func (t *Type) Bits() uint64 {
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

// CheckNumber returns an error if the type of a column of numbers is not supported.
func (t *Type) CheckNumber() error {
	switch {
	case t == nil:
		return errors.New("found no type, wanted double or rational")
	case t.Type == "double" && t.Bits() == 64, t.Type == "rational" && t.Bits()%128 == 0 && t.Bits() <= 1<<20:
		return nil
	case strings.HasSuffix(t.Type, "-interval"):
		return fmt.Errorf("found intervals, of type %s, wanted double or rational", t.Type)
	}
	return fmt.Errorf("found numbers of type %q with %d bits, wanted double with 64 or rational with a multiple of 128", t.Type, t.Bits())
}

// Bound returns the type of the two bounds of an interval, which are stored with the lower bound first. For other types it returns the type itself.
func (t *Type) Bound() (bound *Type, isInterval bool) {
	if t == nil {
		return nil, false
	}
	name, isInterval := strings.CutSuffix(t.Type, "-interval")
	if !isInterval {
		return t, false
	}
	return &Type{Type: name, Size: t.Bits() / 2}, true
}

// Group are the annotations of one kind, by their identifiers.
type Group = Ordered[Annotation]

// Annotation describes a column about states, choices or branches.
type Annotation struct {
	Alias         *string  `json:"alias,omitempty"`
	Description   string   `json:"description,omitempty"`
	AppliesTo     []string `json:"applies-to"`
	Type          Type     `json:"type"`
	Lower         any      `json:"lower,omitempty"`
	Upper         any      `json:"upper,omitempty"`
	Strings       uint64   `json:"#strings,omitempty"`
	Probability   *Type    `json:"probability-type,omitempty"`
	Probabilities uint64   `json:"#probabilities,omitempty"`
}

// Valuation describes how the values of variables are stored for each state.
type Valuation struct {
	Unique  bool    `json:"unique"`
	Strings uint64  `json:"#strings,omitempty"`
	Classes []Class `json:"classes"`
}

// Class is a list of variables in the order in which their values are stored. Different states can have different classes.
type Class struct {
	Variables []Variable `json:"variables"`
}

// Variable describes a variable, or unused bits if it has no name.
type Variable struct {
	Padding  uint64 `json:"padding,omitempty"`
	Name     string `json:"name,omitempty"`
	Optional bool   `json:"is-optional,omitempty"`
	Type     *Type  `json:"type,omitempty"`
	Lower    *int64 `json:"lower,omitempty"`
	Upper    *int64 `json:"upper,omitempty"`
	Offset   int64  `json:"offset,omitempty"`
}

// Ordered is a JSON object that keeps the order of its members, because R=? without a name asks for the first reward structure.
type Ordered[T any] []Named[T]

// Named is a member of a JSON object.
type Named[T any] struct {
	Name  string
	Value T
}

// IsZero reports whether there are no members. encoding/json then omits a field with the option omitzero.
func (o Ordered[T]) IsZero() bool { return len(o) == 0 }

// MarshalJSON implements json.Marshaler.
func (o Ordered[T]) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		text, err := json.Marshal(m.Value)
		if err != nil {
			return nil, err
		}
		out.WriteString(strconv.Quote(m.Name) + ":") // letters, digits, - and _
		out.Write(text)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// UnmarshalJSON implements json.Unmarshaler. It returns an error if a name is no identifier or occurs twice.
func (o *Ordered[T]) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("found %s, wanted an object", quoted(text))
	}
	seen := make(map[string]bool)
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		m := Named[T]{Name: t.(string)} // the names in an object are always strings
		if !isIdentifier(m.Name) || seen[m.Name] {
			return fmt.Errorf("found the identifier %s, wanted each once, of the letters a to z, digits, - and _", quoted([]byte(m.Name)))
		}
		seen[m.Name] = true
		if err := dec.Decode(&m.Value); err != nil {
			return err
		}
		*o = append(*o, m)
	}
	return nil
}

// Get returns the value with a name, or the zero value.
func (o Ordered[T]) Get(name string) (value T) {
	for _, m := range o {
		if m.Name == name {
			return m.Value
		}
	}
	return value
}

// isIdentifier reports whether a text is an identifier of the format.
func isIdentifier(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// Identifier returns an identifier similar to name: it has lower case, _ for other characters, and a number if the identifier without it is taken.
func Identifier(name string, taken func(string) bool) string {
	id := []byte(strings.ToLower(name))
	for i, c := range id {
		if !isIdentifier(string(c)) {
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

// quoted returns a text in quotation marks for a message. It cuts off a long text.
func quoted(text []byte) string {
	if len(text) > 40 {
		return strconv.Quote(string(text[:40])) + "..."
	}
	return strconv.Quote(string(text))
}

package certificate

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"tilecheck/internal/umb"
)

// Version is the version of the format of certificates.
const Version = 1

// indexFile is the name of the index of the certificate, which follows the members of the model.
const indexFile = "certificates/index.json"

// index is certificates/index.json.
type index struct {
	Version int           `json:"format-version"`
	Sets    []indexSet    `json:"sets"`
	Vectors []indexVector `json:"vectors"`
	Claims  []Claim       `json:"claims"`
	// Symmetry is missing if the file has the whole model.
	Symmetry *Symmetry `json:"symmetry,omitempty"`
}

type indexSet struct {
	Set
	Columns map[string]column `json:"columns,omitempty"`
}

type indexVector struct {
	Vector
	Columns map[string]column `json:"columns,omitempty"`
}

// column describes a column in the index. The member certificates/sets/0/bits.bin is Sets[0].Columns["bits"].
type column struct {
	Type  columnType `json:"type"`
	Scale uint       `json:"scale,omitempty"`
	Bytes int        `json:"bytes,omitempty"` // bytes of one value
	Same  string     `json:"same,omitempty"`  // the name of an equal column of the vector; then there is no member
	Above string     `json:"above,omitempty"` // the name of a column with the same scale: the member has the differences to it
}

type columnType string

const (
	columnBits     columnType = "bits"     // UMB's bit vector
	columnNumbers  columnType = "numbers"  // unsigned varints: 0 is None, x+1 is x
	columnFixed    columnType = "fixed"    // multiples of 2^-Scale
	columnFraction columnType = "fraction" // UMB's rationals
)

// columns lists the columns of a set; n is the number of the model's states.
func (s *Set) columns(n int) []columnSlot {
	return []columnSlot{{name: "bits", n: n, bits: &s.Bits}, {name: "rank", n: n, ranks: &s.Rank}}
}

// columns lists the columns of a vector. numStates is the number of states of the model.
func (vector *Vector) columns(numStates int) []columnSlot {
	n := vector.columnLength(numStates)
	numLayers := n
	if vector.Automaton != nil && vector.Kind != CoSafe {
		numLayers = vector.Automaton.Runs
	}
	slots := []columnSlot{
		{name: "lower", n: n, values: &vector.Lower},
		{name: "upper", n: n, values: &vector.Upper},
		{name: "lower-bias", n: n, values: &vector.LowerBias},
		{name: "upper-bias", n: n, values: &vector.UpperBias},
		{name: "rank", n: n, ranks: &vector.Rank},
		{name: "layer", n: numLayers, ranks: &vector.Layer},
	}
	if vector.Kind == PathFormula || vector.Kind == MaxConditional {
		slots = append(slots, columnSlot{name: "won", n: numLayers, ranks: &vector.WinningRanks})
	}
	if vector.Several != nil {
		slots = append(slots, vector.Several.columns()...)
	}
	return slots
}

// columnLength returns the number of entries of a column of bounds: the number of states of the vector's product or, if it has none, of the
// model.
func (vector *Vector) columnLength(numStates int) int {
	switch {
	case vector.Budgets != nil:
		return vector.Budgets.States
	case vector.Several != nil:
		return vector.Several.States
	case vector.Automaton != nil:
		return vector.Automaton.Pairs
	}
	return numStates
}

// columnSlot names a column and points to the field that keeps it. A values column is two columns in the file: the
// values, and the states where they are infinite.
type columnSlot struct {
	name   string
	n      int // the number of entries
	bits   *Bits
	ranks  *[]uint32
	values **Values
}

// Compress returns a gzip writer with the compression level of certificate files.
func Compress(out io.Writer) io.WriteCloser {
	z, _ := gzip.NewWriterLevel(out, gzip.BestSpeed) // the level is valid, so there is no error
	return z
}

// Write writes a certificate without compression. writeModel writes the members of the model, whose states must be in the order of the columns.
// Write uses only the number of states of file.Model.
func Write(ctx context.Context, out io.Writer, writeModel func(ctx context.Context, out *umb.Writer) error, file *File) error {
	writer := umb.NewWriter(ctx, out)
	if err := writeModel(ctx, writer); err != nil {
		return err
	}
	n := file.Model.NumStates()
	contents := index{Version: Version, Sets: []indexSet{}, Vectors: []indexVector{}, Claims: file.Claims, Symmetry: file.Symmetry}
	var columnWriters []func()
	for i := range file.Sets {
		columns, writers := describeColumns(writer, "sets", i, file.Sets[i].columns(n))
		contents.Sets = append(contents.Sets, indexSet{file.Sets[i], columns})
		columnWriters = append(columnWriters, writers...)
	}
	for i := range file.Vectors {
		columns, writers := describeColumns(writer, "vectors", i, file.Vectors[i].columns(n))
		contents.Vectors = append(contents.Vectors, indexVector{file.Vectors[i], columns})
		columnWriters = append(columnWriters, writers...)
	}
	text, err := json.MarshalIndent(contents, "", "  ")
	if err != nil {
		return err
	}
	writer.File(indexFile, int64(len(text)), func(buffer *bufio.Writer) { _, _ = buffer.Write(text) })
	for _, writeColumn := range columnWriters {
		writeColumn()
	}
	return writer.Close()
}

// memberName returns the name of a column in the archive.
func memberName(group string, i int, name string) string {
	return "certificates/" + group + "/" + strconv.Itoa(i) + "/" + name + ".bin"
}

// describeColumns returns, for set or vector i, the descriptions of its columns in the index, and the functions that write the columns. group is
// the folder in the archive.
func describeColumns(writer *umb.Writer, group string, i int, slots []columnSlot) (descriptions map[string]column, writers []func()) {
	descriptions = make(map[string]column)
	addBits := func(name string, n int, set Bits) {
		if set != nil {
			descriptions[name] = column{Type: columnBits}
			writers = append(writers, func() { writer.Bits(memberName(group, i, name), n, set.Has) })
		}
	}
	nameOf := make(map[*Values]string) // of the columns of values so far
	var previous *columnSlot           // the previous column of values
	for _, slot := range slots {
		switch {
		case slot.bits != nil:
			addBits(slot.name, slot.n, *slot.bits)
		case slot.ranks != nil && *slot.ranks != nil:
			descriptions[slot.name] = column{Type: columnNumbers}
			writers = append(writers, func() { writeRanks(writer, memberName(group, i, slot.name), *slot.ranks) })
		case slot.values != nil && *slot.values != nil:
			values := *slot.values
			if equalColumn, isStored := nameOf[values]; isStored {
				descriptions[slot.name] = column{Same: equalColumn}
				continue
			}
			nameOf[values] = slot.name
			stored, description := values.shortest(previous)
			previous = &slot
			descriptions[slot.name] = description
			writers = append(writers, func() { stored.writeColumn(writer, memberName(group, i, slot.name), description) })
			addBits(slot.name+"-infinite", slot.n, values.Infinite)
		}
	}
	return descriptions, writers
}

// shortest returns the values to store: the values themselves or, if they need fewer bytes, their differences to the previous column of values.
// It also returns their description. previous is nil for the first column.
func (values *Values) shortest(previous *columnSlot) (stored *Values, description column) {
	stored, description = values, values.encoding()
	if previous == nil {
		return stored, description
	}
	difference := values.differenceTo(*previous.values)
	if difference == nil || difference.encoding().Bytes >= description.Bytes {
		return stored, description
	}
	description = difference.encoding()
	description.Above = previous.name
	return difference, description
}

// encoding returns the type of the values and the least number of bytes with which every value can be stored.
func (values *Values) encoding() column {
	if values.Fixed != nil {
		union := uint64(0)
		for s, value := range values.Fixed {
			if !values.Infinite.Has(s) {
				union |= value
			}
		}
		return column{Type: columnFixed, Scale: values.Scale, Bytes: max(1, (bits.Len64(union)+7)/8)}
	}
	column := column{Type: columnFraction, Bytes: 16}
	for s := range values.Len() {
		if value := values.Rat(s); value != nil {
			column.Bytes = max(column.Bytes, umb.RatSize(value))
		}
	}
	return column
}

// differenceTo returns values - base. It returns nil if a difference is negative, or if the columns are not multiples of the same power of two.
func (values *Values) differenceTo(base *Values) *Values {
	areFixed := values.Fixed != nil && base.Fixed != nil
	if !areFixed || values.Scale != base.Scale || len(values.Fixed) != len(base.Fixed) {
		return nil
	}
	difference := &Values{Scale: values.Scale, Fixed: make([]uint64, len(values.Fixed)), Infinite: values.Infinite}
	for s, value := range values.Fixed {
		if values.Infinite.Has(s) {
			continue
		}
		if base.Infinite.Has(s) || value < base.Fixed[s] {
			return nil
		}
		difference.Fixed[s] = value - base.Fixed[s]
	}
	return difference
}

// writeColumn writes a column of values in the given encoding.
func (values *Values) writeColumn(writer *umb.Writer, name string, description column) {
	writer.File(name, int64(description.Bytes)*int64(values.Len()), func(buffer *bufio.Writer) {
		for s := range values.Len() {
			infinite := values.Infinite.Has(s)
			switch {
			case values.Fixed != nil && infinite:
				umb.PutLowBytes(buffer, 0, description.Bytes)
			case values.Fixed != nil:
				umb.PutLowBytes(buffer, values.Fixed[s], description.Bytes)
			case infinite:
				umb.PutRat(buffer, new(big.Rat), description.Bytes)
			default:
				umb.PutRat(buffer, values.Rat(s), description.Bytes)
			}
		}
	})
}

// writeRanks writes each rank plus one, and 0 for None.
func writeRanks(writer *umb.Writer, name string, ranks []uint32) {
	size := 0
	for _, rank := range ranks {
		size += (max(1, bits.Len32(rank+1)) + 6) / 7
	}
	writer.File(name, int64(size), func(buffer *bufio.Writer) {
		for _, rank := range ranks {
			_, _ = buffer.Write(binary.AppendUvarint(buffer.AvailableBuffer(), uint64(rank+1))) // None is 0
		}
	})
}

// Statement returns the statement of a claim in PRISM's syntax, with the texts of its sets and vectors. A certificate proves this statement,
// whatever the field Property of the claim says.
func (file *File) Statement(claim *Claim) string {
	text := ""
	switch {
	case claim.Vector < 0:
		text = file.setText(claim.Set)
	case claim.Complement:
		text = "1-" + file.vectorText(&file.Vectors[claim.Vector])
	default:
		text = file.vectorText(&file.Vectors[claim.Vector])
	}
	if file.Sets[claim.OverSet].Kind == Init && claim.Operator == "" {
		return text
	}
	filter := claim.Operator
	switch {
	case filter == "" && claim.Vector < 0:
		filter = "forall"
	case filter == "":
		filter = "range"
	}
	return "filter(" + filter + ", " + text + ", " + file.setText(claim.OverSet) + ")"
}

// vectorText returns the query in PRISM's syntax whose answer is the value of a vector.
func (file *File) vectorText(vector *Vector) string {
	opt := ""
	if file.Model.Kind == MDP {
		opt = map[bool]string{true: "max", false: "min"}[vector.IsMaximum]
	}
	rewardOperator := file.Model.rewardOperator(vector.Reward) + opt
	switch vector.Kind {
	case Objectives:
		return vector.Several.text(file)
	case Conditional:
		return file.shareText(vector)
	case MaxConditional:
		return file.conditionText(vector)
	case Discounted:
		return fmt.Sprintf("%s=? [ %s ]", rewardOperator, vector.discountText())
	case RewardWithinBounds:
		return fmt.Sprintf("%s=? [ C%s ]", rewardOperator, file.budgetText(vector.Budgets))
	case RewardBounded:
		return fmt.Sprintf("P%s=? [ %s U%s %s ]", opt, file.setText(vector.Left), file.budgetText(vector.Budgets), file.setText(vector.Right))
	case Until:
		if vector.Maximizer != 0 {
			return fmt.Sprintf("P=? [ %s U %s ] of the game in which %s maximizes", file.setText(vector.Left), file.setText(vector.Right), file.setText(vector.Maximizer))
		}
		return fmt.Sprintf("P%s=? [ %s U %s ]", opt, file.setText(vector.Left), file.setText(vector.Right))
	case Steps:
		from, to := vector.interval()
		bound := "<=" + to
		switch {
		case to == "":
			bound = ">=" + from
		case from != "0":
			bound = "[" + from + "," + to + "]"
		}
		return fmt.Sprintf("P%s=? [ %s U%s %s ]", opt, file.setText(vector.Left), bound, file.setText(vector.Right))
	case Next:
		return fmt.Sprintf("P%s=? [ X %s ]", opt, file.setText(vector.Right))
	case ReachReward:
		return fmt.Sprintf("%s=? [ F %s ]", rewardOperator, file.setText(vector.Right))
	case TotalReward:
		return rewardOperator + "=? [ C ]"
	case Cumulative:
		_, to := vector.interval()
		return fmt.Sprintf("%s=? [ C<=%s ]", rewardOperator, to)
	case Instant:
		_, to := vector.interval()
		return fmt.Sprintf("%s=? [ I=%s ]", rewardOperator, to)
	}
	switch {
	case vector.ExistsPath:
		return fmt.Sprintf("E [ %s ]", file.pathText(vector.Automaton, vector.Automaton.Formula))
	case vector.Kind == PathFormula:
		return fmt.Sprintf("P%s=? [ %s ]", opt, file.pathText(vector.Automaton, vector.Automaton.Formula))
	case vector.Kind == CoSafe:
		return fmt.Sprintf("%s=? [ %s ]", rewardOperator, file.pathText(vector.Automaton, vector.Automaton.Formula))
	case vector.Reward < 0:
		return fmt.Sprintf("S%s=? [ %s ]", opt, file.setText(vector.Right))
	}
	return rewardOperator + "=? [ S ]"
}

// TimeRewards is the name of the reward structure of Storm's operator T, the expected time. The text of the model does not contain it.
const TimeRewards = "time_of_operator_T"

// rewardOperator returns the operator over reward structure i without an optimum, such as R{"cost"}. It is T for the structure of this operator.
func (m *Model) rewardOperator(i int) string {
	if i >= 0 && i < len(m.Rewards) && m.Rewards[i].Name == TimeRewards {
		return "T"
	}
	return "R" + m.structureText(i)
}

// structureText returns reward structure i in PRISM's syntax: its name or, without a name, its number. It returns "" if there is no such
// structure.
func (m *Model) structureText(i int) string {
	switch {
	case i < 0 || i >= len(m.Rewards):
		return ""
	case m.Rewards[i].Name == "":
		return fmt.Sprintf("{%d}", i+1)
	}
	return fmt.Sprintf("{%q}", m.Rewards[i].Name)
}

// interval returns the ends of the step bound or the time bound as texts. to is "" if there is no upper bound.
func (vector *Vector) interval() (from, to string) {
	switch timed := vector.Timed; {
	case timed != nil && timed.To == nil:
		return timed.From.RatString(), ""
	case timed != nil:
		return timed.From.RatString(), timed.To.RatString()
	case vector.To < 0:
		return strconv.Itoa(vector.From), ""
	}
	return strconv.Itoa(vector.From), strconv.Itoa(vector.To)
}

// setText returns a state formula in PRISM's syntax for set i.
func (file *File) setText(i int) string {
	set := &file.Sets[i]
	join := func(operator string) string {
		var operands []string
		for _, operand := range set.Sets {
			operands = append(operands, file.setText(operand))
		}
		return "(" + strings.Join(operands, operator) + ")"
	}
	switch set.Kind {
	case Atomic:
		return "(" + set.Text + ")"
	case All:
		return "true"
	case Init:
		return `"init"`
	case Not:
		return "!" + file.setText(set.Sets[0])
	case And:
		return join("&")
	case Or:
		return join("|")
	case Bound:
		text := file.vectorText(&file.Vectors[set.Vector])
		if file.Vectors[set.Vector].ExistsPath {
			return "(" + text + ")"
		}
		if file.Vectors[set.Vector].Kind == Conditional { // its text has several queries
			return "(" + text + set.Relation + set.Threshold.RatString() + ")"
		}
		operator, path, _ := strings.Cut(text, "=?")
		return "(" + operator + set.Relation + set.Threshold.RatString() + path + ")"
	case ArgMin, ArgMax:
		return "filter(" + string(set.Kind) + ", " + file.vectorText(&file.Vectors[set.Vector]) + ", " + file.setText(set.Sets[0]) + ")"
	case ExistsUntil:
		return "(E [ " + file.setText(set.Sets[0]) + " U " + file.setText(set.Sets[1]) + " ])"
	case ForallUntil:
		return "(A [ " + file.setText(set.Sets[0]) + " U " + file.setText(set.Sets[1]) + " ])"
	case ExistsNext:
		return "(E [ X " + file.setText(set.Sets[0]) + " ])"
	}
	return "(A [ X " + file.setText(set.Sets[0]) + " ])"
}

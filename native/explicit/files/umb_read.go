package files

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ulikunitz/xz"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

const (
	// maxUMBIndex is the largest index.json, and maxUMBNames what strings may have.
	maxUMBIndex = 16 << 20
	maxUMBNames = 64 << 20
	// umbChunk is how much is read before more room is made: sizes may lie.
	umbChunk = 1 << 20
)

// ReadUMB reads a model in UMB, plain or compressed by gzip or xz: DTMCs, MDPs and
// CTMCs with one initial state or more. The columns are kept as they come, a
// valuation in its bits, so that memory follows the model and not what a file says
// of itself. Its errors are as for Read, about the file as a whole: members have no
// lines. Other kinds of models, intervals and what is only partly there are refused
// by name.
//
// Where states have no valuations, or some that are not all different, they have
// one variable x, their number, and a warning says so.
func ReadUMB(ctx context.Context, src Source, opts ReadOptions) (*explicit.Space, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	u := &umbFile{ctx: ctx, opts: opts, src: src, seen: make(map[string]bool)}
	space, err := u.read()
	if err == nil || ctx.Err() != nil {
		return space, cmpErr(ctx.Err(), err)
	}
	if _, ok := errors.AsType[*explicit.LimitError](err); ok {
		return nil, err
	}
	if _, ok := errors.AsType[*explicit.DeadlockError](err); ok {
		return nil, err
	}
	if list, ok := errors.AsType[syntax.ErrorList](err); ok {
		return nil, list
	}
	return nil, syntax.ErrorList{{File: src.Name, Msg: err.Error()}}
}

func cmpErr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// umbFile is a file being read.
type umbFile struct {
	ctx  context.Context
	opts ReadOptions
	src  Source
	seen map[string]bool

	index    *umbIndex
	typ      syntax.ModelType
	states   int
	choices  int
	branches int

	stateChoices []uint32 // offsets; nil: one choice for each
	choiceRows   []uint32
	targets      []uint32
	probability  umbNumbers
	exitRate     umbNumbers
	initial      *sparse.Set
	actions      []uint32
	names        []byte
	nameAt       []uint32
	labels       map[string]*sparse.Set
	rewards      map[string]umbNumbers // by identifier and kind
	valuations   []byte
	fields       []umbRead
	warnings     []string
}

// umbRead is a variable of a valuation.
type umbRead struct {
	name      string
	kind      sema.Type
	at, bits  int
	signed    bool
	offset    int64
	low, high int64 // as the file says, or as found
	told      bool
}

// umbNumbers is a column of numbers.
type umbNumbers struct {
	doubles []float64
	rats    []byte // fractions as they are in the file
	size    int    // of one, in bytes
}

func (n *umbNumbers) there() bool { return n.doubles != nil || n.rats != nil }

// at returns a number, with its fraction if that is asked for.
func (n *umbNumbers) at(i int, exact bool) (number, error) {
	if n.rats == nil {
		x := number{f: n.doubles[i]}
		if math.IsNaN(x.f) || math.IsInf(x.f, 0) {
			return x, fmt.Errorf("found the number %v", x.f)
		}
		if exact {
			x.r, _ = new(big.Rat).SetString(strconv.FormatFloat(x.f, 'g', -1, 64))
			x.r.SetFloat64(x.f)
		}
		return x, nil
	}
	half := n.size / 2
	text := n.rats[i*n.size : (i+1)*n.size]
	whole := func(text []byte) *big.Int {
		b := slices.Clone(text)
		slices.Reverse(b)
		return new(big.Int).SetBytes(b)
	}
	num, den := whole(text[:half]), whole(text[half:])
	if text[half-1]&0x80 != 0 {
		num.Sub(num, new(big.Int).Lsh(big.NewInt(1), uint(8*half)))
	}
	if den.Sign() == 0 {
		return number{}, errors.New("found a fraction with the denominator 0")
	}
	r := new(big.Rat).SetFrac(num, den)
	x := number{}
	x.f, _ = r.Float64()
	if exact {
		x.r = r
	}
	if math.IsInf(x.f, 0) || x.f == 0 && r.Sign() != 0 {
		return x, fmt.Errorf("found the fraction %s, wanted %v", quote([]byte(r.RatString())), errLarge)
	}
	return x, nil
}

func (u *umbFile) read() (*explicit.Space, error) {
	if err := u.members(func(name string, r *umbMember) error {
		if name != umbIndexFile {
			return nil
		}
		text, err := r.all(maxUMBIndex)
		if err == nil {
			err = u.readIndex(text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return errStop
	}); err != nil {
		return nil, err
	}
	if u.index == nil {
		return nil, fmt.Errorf("there is no %s, wanted a model in UMB", umbIndexFile)
	}
	u.labels, u.rewards = make(map[string]*sparse.Set), make(map[string]umbNumbers)
	clear(u.seen)
	if err := u.members(u.member); err != nil {
		return nil, err
	}
	return u.assemble()
}

// errStop ends a look at the members.
var errStop = errors.New("stop")

// members calls a function for every member, and checks names.
func (u *umbFile) members(visit func(name string, r *umbMember) error) error {
	r, err := unzipUMB(u.src.Text)
	if err != nil {
		return err
	}
	archive := tar.NewReader(r)
	for {
		if err := u.ctx.Err(); err != nil {
			return err
		}
		h, err := archive.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it is no UMB file, or a damaged one: %w", err)
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		name := strings.TrimPrefix(h.Name, "./")
		if h.Typeflag != tar.TypeReg || path.Clean("/"+name) != "/"+name || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_./") != "" {
			return fmt.Errorf("found the member %s, wanted files with names such as %s", quote([]byte(h.Name)), umbTargets)
		}
		if u.seen[name] {
			return fmt.Errorf("found %s twice", name)
		}
		u.seen[name] = true
		switch err := visit(name, &umbMember{archive, h.Size, u.ctx}); {
		case err == errStop:
			return nil
		case err != nil:
			return err
		}
	}
}

// unzipUMB returns the tar file.
func unzipUMB(text []byte) (io.Reader, error) {
	r := bytes.NewReader(text)
	switch {
	case bytes.HasPrefix(text, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("it is damaged: %w", err)
		}
		return bufio.NewReaderSize(z, 1<<16), nil
	case bytes.HasPrefix(text, []byte("\xfd7zXZ\x00")):
		z, err := xz.NewReader(bufio.NewReader(r))
		if err != nil {
			return nil, fmt.Errorf("it is damaged: %w", err)
		}
		return bufio.NewReaderSize(z, 1<<16), nil
	}
	return r, nil
}

// umbMember is one that is read.
type umbMember struct {
	r    io.Reader
	size int64
	ctx  context.Context
}

// all returns the bytes of a member of at most so many.
func (m *umbMember) all(most int64) ([]byte, error) {
	if m.size > most {
		return nil, fmt.Errorf("found %d bytes, wanted at most %d", m.size, most)
	}
	var out bytes.Buffer
	for {
		n, err := io.CopyN(&out, m.r, min(umbChunk, m.size-int64(out.Len())))
		if err == nil && m.ctx.Err() != nil {
			err = m.ctx.Err()
		}
		if err != nil {
			return nil, truncated(err)
		}
		if n == 0 || int64(out.Len()) == m.size {
			return out.Bytes(), nil
		}
	}
}

func truncated(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the file ends in the middle")
	}
	return err
}

// sized returns what is wrong with the size of a column of n values.
func (m *umbMember) sized(n, each int64) error {
	if m.size != n*each {
		return fmt.Errorf("found %d bytes, wanted %d: %d values of %d bytes", m.size, n*each, n, each)
	}
	return nil
}

// words calls a function for every value of so many bytes.
func (m *umbMember) words(n, each int, visit func(word []byte) error) error {
	if err := m.sized(int64(n), int64(each)); err != nil {
		return err
	}
	buf := make([]byte, each*max(1, min(n, umbChunk/each)))
	for n > 0 {
		part := buf[:each*min(n, len(buf)/each)]
		if _, err := io.ReadFull(m.r, part); err != nil {
			return truncated(err)
		}
		if err := m.ctx.Err(); err != nil {
			return err
		}
		for i := 0; i < len(part); i += each {
			if err := visit(part[i : i+each]); err != nil {
				return err
			}
		}
		n -= len(part) / each
	}
	return nil
}

// room is the capacity to begin with for n values that may not be there.
func room(n int) int { return min(n, umbChunk) }

// offsets reads where n rows begin among so many; the last one is that number.
func (m *umbMember) offsets(n, most int) ([]uint32, error) {
	out := make([]uint32, 0, room(n+1))
	last := uint64(0)
	err := m.words(n+1, 8, func(word []byte) error {
		x := binary.LittleEndian.Uint64(word)
		if x < last || x > uint64(most) || len(out) == 0 && x != 0 {
			return fmt.Errorf("found %d as offset %d, wanted 0 first and then none that is less than the one before or above %d", x, len(out), most)
		}
		last = x
		out = append(out, uint32(x))
		return nil
	})
	if err == nil && last != uint64(most) {
		err = fmt.Errorf("found %d as the last offset, wanted %d", last, most)
	}
	return out, err
}

// indices reads n numbers below a limit, of so many bytes.
func (m *umbMember) indices(n, each int, limit uint64) ([]uint32, error) {
	out := make([]uint32, 0, room(n))
	err := m.words(n, each, func(word []byte) error {
		x := uint64(binary.LittleEndian.Uint32(word))
		if each == 8 {
			x = binary.LittleEndian.Uint64(word)
		}
		if x >= limit {
			return fmt.Errorf("found %d as value %d, wanted one below %d", x, len(out), limit)
		}
		out = append(out, uint32(x))
		return nil
	})
	return out, err
}

// set reads a set of n states.
func (m *umbMember) set(n int) (*sparse.Set, error) {
	out := sparse.NewSet(n)
	at := 0
	err := m.words((n+63)/64, 8, func(word []byte) error {
		x := binary.LittleEndian.Uint64(word)
		for ; x != 0; x &= x - 1 {
			i := at
			for y := x; y&1 == 0; y >>= 1 {
				i++
			}
			if i >= n {
				return fmt.Errorf("found a bit for state %d, wanted 0 behind the %d states", i, n)
			}
			out.Add(i)
		}
		at += 64
		return nil
	})
	return out, err
}

// numbers reads n numbers.
func (m *umbMember) numbers(n int, t *umbType) (out umbNumbers, err error) {
	if err := t.number(); err != nil {
		return out, err
	}
	if t.Type == "double" {
		out.doubles = make([]float64, 0, room(n))
		return out, m.words(n, 8, func(word []byte) error {
			out.doubles = append(out.doubles, math.Float64frombits(binary.LittleEndian.Uint64(word)))
			return nil
		})
	}
	out.size = int(t.bits() / 8)
	if err := m.sized(int64(n), int64(out.size)); err != nil {
		return out, err
	}
	out.rats, err = m.all(m.size)
	return out, err
}

// readIndex checks what the file says of itself.
func (u *umbFile) readIndex(text []byte) error {
	x := new(umbIndex)
	if err := json.Unmarshal(text, x); err != nil {
		return err
	}
	s := &x.System
	if x.Version != umbVersion {
		return fmt.Errorf("found version %d of the format, wanted %d", x.Version, umbVersion)
	}
	switch {
	case s.Time == "discrete" && s.Players == 0:
		u.typ = syntax.DTMC
	case s.Time == "discrete" && s.Players == 1 && s.Observations == 0 && s.Probability != nil:
		u.typ = syntax.MDP
	case s.Time == "stochastic" && s.Players == 0:
		u.typ = syntax.CTMC
	default:
		return fmt.Errorf("found a model with time %s, %d players and %d observations%s, only DTMCs, MDPs and CTMCs can be read",
			quote([]byte(s.Time)), s.Players, s.Observations, map[bool]string{true: " and no probabilities"}[s.Probability == nil])
	}
	if u.opts.Type != syntax.TypeNone && u.opts.Type != u.typ {
		return fmt.Errorf("found a model of type %s, wanted a %s as asked for", u.typ, u.opts.Type)
	}
	if s.States < 1 || s.States > math.MaxInt32 || s.Choices > math.MaxUint32-1 || s.Branches > math.MaxUint32-1 || s.Observations > 0 {
		return fmt.Errorf("found %d states, %d choices, %d branches and %d observations, wanted numbers that fit 32 bits, states and no observations", s.States, s.Choices, s.Branches, s.Observations)
	}
	if err := u.opts.limit(int(s.States)); err != nil {
		return err
	}
	if s.ChoiceActions > math.MaxUint16-1 || s.BranchActions > math.MaxUint16-1 {
		return fmt.Errorf("found %d and %d actions, wanted at most %d", s.ChoiceActions, s.BranchActions, math.MaxUint16-1)
	}
	if err := s.Probability.number(); err != nil {
		return fmt.Errorf("branch-probability-type: %w", err)
	}
	if u.typ == syntax.CTMC {
		if err := s.ExitRate.number(); err != nil {
			return fmt.Errorf("exit-rate-type: %w", err)
		}
	}
	u.states, u.choices, u.branches = int(s.States), int(s.Choices), int(s.Branches)
	u.index = x
	return u.annotated()
}

// annotated refuses annotations that cannot be read.
func (u *umbFile) annotated() error {
	for _, g := range u.index.Annotations {
		for _, m := range g.value {
			a, name := &m.value, g.name+"/"+m.name
			switch {
			case g.name == "aps" && (a.Type.Type != "bool" || a.Type.bits() != 1 || !slices.Equal(a.AppliesTo, []string{"states"})):
				return fmt.Errorf("%s: found an atomic proposition of type %q, wanted bool, of states", name, a.Type.Type)
			case g.name == "rewards":
				if err := a.Type.number(); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				for _, kind := range a.AppliesTo {
					if !slices.Contains([]string{"states", "choices", "branches"}, kind) || kind == "branches" && u.typ == syntax.MDP {
						return fmt.Errorf("%s: found rewards of %s, which are not supported for a model of type %s", name, kind, u.typ)
					}
				}
			case g.name != "aps":
				u.warnings = append(u.warnings, fmt.Sprintf("the annotations %q of %s are not used", g.name, u.src.Name))
			}
			if a.Probability != nil {
				return fmt.Errorf("%s: found values with probabilities, which are not supported", name)
			}
		}
	}
	v, ok := u.index.Valuations["states"]
	if !ok {
		return nil
	}
	if why := u.variables(v); why != "" {
		u.fields = nil
		u.warnings = append(u.warnings, fmt.Sprintf("the valuations of %s are not used, and its states have one variable x, their number: %s", u.src.Name, why))
	}
	return nil
}

// variables lays out the valuations, or says why they cannot be used.
func (u *umbFile) variables(v umbValuation) (why string) {
	if len(v.Classes) != 1 {
		return fmt.Sprintf("there are %d classes of them, and only one is supported", len(v.Classes))
	}
	at := 0
	for _, x := range v.Classes[0].Variables {
		if x.Padding > 0 {
			if x.Padding > 1<<16 {
				return fmt.Sprintf("there are %d bits of padding", x.Padding)
			}
			at += int(x.Padding)
			continue
		}
		f := umbRead{name: x.Name, at: at, offset: x.Offset, kind: sema.Int}
		if x.Type == nil || x.Optional {
			return fmt.Sprintf("variable %s is optional or has no type", quote([]byte(x.Name)))
		}
		bits := x.Type.bits()
		switch {
		case x.Type.Type == "bool" && bits <= 64:
			f.kind = sema.Bool
		case (x.Type.Type == "int" || x.Type.Type == "uint") && bits <= 64:
			f.signed = x.Type.Type == "int"
		default:
			return fmt.Sprintf("variable %s is of type %s with %d bits", quote([]byte(x.Name)), x.Type.Type, bits)
		}
		if !syntax.IsIdent(x.Name) || slices.ContainsFunc(u.fields, func(g umbRead) bool { return g.name == x.Name }) {
			return fmt.Sprintf("%s is not the name of one variable", quote([]byte(x.Name)))
		}
		if x.Lower != nil && x.Upper != nil {
			f.low, f.high, f.told = *x.Lower, *x.Upper, true
		}
		f.bits = int(bits)
		at += f.bits
		u.fields = append(u.fields, f)
	}
	if at%8 != 0 || at == 0 || at > 1<<20 {
		return fmt.Sprintf("they have %d bits, which are no whole bytes", at)
	}
	return ""
}

// width is the size of a valuation in bytes.
func (u *umbFile) width() int {
	at := 0
	for _, x := range u.index.Valuations["states"].Classes[0].Variables {
		at += int(x.Padding)
		if x.Padding == 0 {
			at += int(x.Type.bits())
		}
	}
	return at / 8
}

// member reads one of the members that make a model.
func (u *umbFile) member(name string, m *umbMember) (err error) {
	defer func() {
		if err != nil && u.ctx.Err() == nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}()
	s := &u.index.System
	kind, ids := "choices", u.choices
	actions := s.ChoiceActions
	if u.typ != syntax.MDP {
		kind, ids, actions = "branches", u.branches, s.BranchActions
	}
	switch name {
	case umbStateChoices:
		u.stateChoices, err = m.offsets(u.states, u.choices)
	case umbChoiceRows:
		u.choiceRows, err = m.offsets(u.choices, u.branches)
	case umbTargets:
		u.targets, err = m.indices(u.branches, 8, uint64(u.states))
	case umbProbabilities:
		u.probability, err = m.numbers(u.branches, s.Probability)
	case umbExitRates:
		if u.typ == syntax.CTMC {
			u.exitRate, err = m.numbers(u.states, s.ExitRate)
		}
	case umbInitial:
		u.initial, err = m.set(u.states)
	case "actions/" + kind + "/values.bin":
		u.actions, err = m.indices(ids, 4, actions)
	case "actions/" + kind + "/string-mapping.bin":
		u.nameAt, err = m.mapping(int(actions))
	case "actions/" + kind + "/strings.bin":
		u.names, err = m.all(maxUMBNames)
	case umbValuations:
		if u.fields == nil {
			return nil
		}
		if err = m.sized(int64(u.states), int64(u.width())); err == nil {
			u.valuations, err = m.all(m.size)
		}
	default:
		err = u.annotation(name, m)
	}
	return err
}

// mapping reads where the strings of n actions are.
func (m *umbMember) mapping(n int) (out []uint32, err error) {
	last := uint64(0)
	return out, m.words(n+1, 8, func(word []byte) error {
		x := binary.LittleEndian.Uint64(word)
		if x < last || x > maxUMBNames {
			return fmt.Errorf("found %d as offset %d of a string", x, len(out))
		}
		last = x
		out = append(out, uint32(x))
		return nil
	})
}

// annotation reads a label or rewards; what the index does not know is nobody's.
func (u *umbFile) annotation(name string, m *umbMember) (err error) {
	words := strings.Split(name, "/")
	if len(words) != 5 || words[0] != "annotations" || words[4] != "values.bin" {
		return nil
	}
	group, id, kind := words[1], words[2], words[3]
	a := u.index.Annotations.get(group).get(id)
	if !slices.Contains(a.AppliesTo, kind) {
		return nil
	}
	switch group {
	case "aps":
		u.labels[id], err = m.set(u.states)
	case "rewards":
		n := map[string]int{"states": u.states, "choices": u.choices, "branches": u.branches}[kind]
		u.rewards[id+"/"+kind], err = m.numbers(n, &a.Type)
	}
	return err
}

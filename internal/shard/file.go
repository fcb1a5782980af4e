package shard

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"reflect"
	"slices"

	"tilecheck/internal/noun"
)

// Job identifies a command by everything that its results depend on, and nothing else. It does not depend on the machine.
type Job struct {
	// Build is the identity of the program; another build may draw other samples.
	Build string `json:"build"`
	// Args is the command line, without the part and its file.
	Args []string `json:"args"`
	// Means are the parts of the command line that matter, in a canonical order. Two command lines with the same Means are the same job.
	Means []string `json:"means"`
	// Inputs are the files that the command reads.
	Inputs []Input `json:"inputs"`
}

// Input is an input file, identified by its content.
type Input struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// ID returns a hash of the build, the Means and the inputs.
func (j *Job) ID() string {
	text, _ := json.Marshal(Job{Build: j.Build, Means: j.Means, Inputs: j.Inputs}) // never fails
	return sum(text)
}

func sum(text []byte) string {
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:])
}

// Digest returns the SHA-256 and the size in bytes of a file.
func Digest(name string) (sum string, bytes int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	if bytes, err = io.Copy(h, f); err != nil {
		return "", 0, fmt.Errorf("%s: %w", name, err)
	}
	return hex.EncodeToString(h.Sum(nil)), bytes, nil
}

// File is a partial file, the results of one process. It has a line that names the format, a line of JSON, the data of the pieces, and
// the SHA-256 of all that. Its content does not depend on the machine.
type File struct {
	Name string // as the caller named it
	Part
	Job
	pieces  []*Piece
	content string // hash of the pieces without times
}

// magic is the first line of a partial file.
const magic = "tilecheck shard 1\n"

// checksumLine is the length of the last line in bytes.
const checksumLine = 2*sha256.Size + 1

// maxHeader is the largest length of the line of JSON.
const maxHeader = 256 << 20

// header is the line of JSON.
type header struct {
	Index  int     `json:"shard"`
	Of     int     `json:"of"`
	Job    Job     `json:"job"`
	Pieces []entry `json:"pieces"`
}

// entry is a piece in the header.
type entry struct {
	Stream string   `json:"stream"`
	First  int64    `json:"first"`
	End    int64    `json:"end"`
	Mean   *float64 `json:"mean,omitempty"`
	Timed  bool     `json:"timed,omitempty"`
	Bytes  int64    `json:"bytes"`
}

// Write writes the recorded results. The error is an error of w, or says why the part is not finished.
func (l *Ledger) Write(w io.Writer, job *Job) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unfinished != nil {
		return l.unfinished
	}
	h := header{Index: l.part.Index, Of: l.part.Count, Job: *job}
	slices.SortFunc(l.pieces, func(a, b *Piece) int { return bytes.Compare([]byte(a.Stream), []byte(b.Stream)) })
	for _, p := range l.pieces {
		h.Pieces = append(h.Pieces, entry{p.Stream, p.First, p.End, p.Mean, p.Timed, int64(len(p.Data))})
	}
	line, err := marshal(h)
	if err != nil {
		return err
	}
	var back header // names of files can have bytes that are not UTF-8, which JSON replaces
	if err := json.Unmarshal(line, &back); err != nil || !reflect.DeepEqual(h, back) {
		return errors.New("the command line has text that is not UTF-8, which a shard cannot have")
	}
	hashed := sha256.New()
	both := io.MultiWriter(w, hashed)
	for _, part := range append([][]byte{[]byte(magic), line}, l.data()...) {
		if _, err := both.Write(part); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(w, "%x\n", hashed.Sum(nil))
	return err
}

// marshal encodes x as a line of JSON. It does not escape < and >, which are frequent in properties.
func marshal(x any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(x)
	return out.Bytes(), err
}

func (l *Ledger) data() (out [][]byte) {
	for _, p := range l.pieces {
		out = append(out, p.Data)
	}
	return out
}

// Read reads and checks a partial file. The data of its pieces is read later, by Load. The error names the file and the problem.
func Read(name string) (*File, error) {
	f, err := read(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, cause(err))
	}
	return f, nil
}

// cause removes the file name from an error whose message already has it.
func cause(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// read reads the header of a partial file and checks the rest of the file. Its errors do not have the name of the file.
func read(name string) (*File, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("found a %s, want a file of a shard", kind(info))
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size := info.Size() - checksumLine
	hashed := sha256.New()
	r := bufio.NewReaderSize(io.TeeReader(io.LimitReader(file, max(size, 0)), hashed), 1<<16)
	if err := checkStart(file, info.Size()); err != nil {
		return nil, err
	}
	header, dataOffset, err := readHeader(r)
	switch {
	case err == io.ErrUnexpectedEOF:
		return nil, cutOff(info.Size())
	case err != nil:
		return nil, err
	}
	f := &File{Name: name, Part: Part{header.Index, header.Of}, Job: header.Job}
	if err := f.setPieces(header, dataOffset, size); err != nil {
		return nil, err
	}
	if f.content, err = f.hash(r); err != nil {
		return nil, err
	}
	return f, checksum(file, hashed)
}

// hash reads the data and returns the hash of the pieces without times, which is the same for all runs of the part.
func (f *File) hash(r io.Reader) (string, error) {
	h := sha256.New()
	for _, p := range f.pieces {
		fmt.Fprintf(h, "%q %d %d\n", p.Stream, p.First, p.End)
		to := io.Writer(h)
		if p.Timed {
			to = io.Discard
		}
		if _, err := io.CopyN(to, r, p.size); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// kind returns the name of the kind of a file that is not a regular file.
func kind(info os.FileInfo) string {
	switch {
	case info.IsDir():
		return "directory"
	case info.Mode()&os.ModeSymlink != 0:
		return "symbolic link"
	}
	return "special file"
}

// Damage is the error about a partial file with the wrong content. The part must be computed again.
type Damage struct{ problem string }

// Error says what is wrong.
func (e *Damage) Error() string { return "it is damaged: " + e.problem }

func damaged(format string, args ...any) error { return &Damage{fmt.Sprintf(format, args...)} }

// cutOff returns the error about a partial file without its end. size is the number of bytes that are there.
func cutOff(size int64) error { return damaged("it is cut off after %s", noun.Count(size, "byte")) }

// checkStart returns an error unless a file of the given size begins as a partial file does.
func checkStart(file io.ReaderAt, size int64) error {
	start := make([]byte, len(magic))
	length, err := file.ReadAt(start, 0)
	if err != nil && err != io.EOF {
		return err
	}
	switch start = start[:length]; {
	case string(start) == magic:
		return nil
	case length > 0 && bytes.HasPrefix([]byte(magic), start):
		return cutOff(size)
	case bytes.HasPrefix(start, []byte("tilecheck shard ")):
		return errors.New("it is a shard in another format, of another version")
	}
	return fmt.Errorf("not a file of --partial: such a file begins with %q", magic[:len(magic)-1])
}

// readHeader reads the lines before the data. It returns the header and the offset at which the data begins, or io.ErrUnexpectedEOF if the file
// ends within these lines.
func readHeader(r *bufio.Reader) (h *header, dataOffset int64, err error) {
	if _, err := r.Discard(len(magic)); err != nil {
		return nil, 0, io.ErrUnexpectedEOF
	}
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if err == nil {
			break
		}
		if err != bufio.ErrBufferFull || len(line) > maxHeader {
			return nil, 0, io.ErrUnexpectedEOF
		}
	}
	h = new(header)
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(h); err != nil {
		return nil, 0, damaged("%v", err)
	}
	return h, int64(len(magic) + len(line)), nil
}

// setPieces checks the header and sets the pieces of the file, whose data begins at offset and ends at size, before the checksum.
func (f *File) setPieces(h *header, offset, size int64) error {
	if f.Index < 1 || f.Count < 1 || f.Index > maxParts || f.Count > maxParts {
		return damaged("found shard %d of %d", f.Index, f.Count)
	}
	if f.Build == "" || len(f.Args) == 0 {
		return damaged("it does not say what it is of")
	}
	seen := make(map[string]bool)
	for _, e := range h.Pieces {
		if e.Bytes > size-offset {
			return cutOff(size + checksumLine)
		}
		isValid := e.First >= 0 && e.End >= e.First && e.Bytes >= 0
		if !isValid || seen[e.Stream] {
			return damaged("found the numbers %d to %d of %q in %d bytes", e.First, e.End, e.Stream, e.Bytes)
		}
		seen[e.Stream] = true
		f.pieces = append(f.pieces, &Piece{Stream: e.Stream, First: e.First, End: e.End, Mean: e.Mean, Timed: e.Timed, file: f, at: offset, size: e.Bytes})
		offset += e.Bytes
	}
	if offset != size {
		return damaged("its pieces end at byte %d, want %d", offset, size)
	}
	return nil
}

// checksum reads the last line of a file and returns an error unless it is the hash of the rest.
func checksum(file io.Reader, hashed hash.Hash) error {
	found, err := io.ReadAll(io.LimitReader(file, 2*sha256.Size+2))
	if err != nil {
		return err
	}
	if want := fmt.Sprintf("%x\n", hashed.Sum(nil)); string(found) != want {
		return damaged("its checksum is wrong")
	}
	return nil
}

// Load reads the data of a piece.
func (p *Piece) Load() ([]byte, error) {
	if p.file == nil {
		return p.Data, nil
	}
	f, err := os.Open(p.file.Name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, p.size)
	if _, err := f.ReadAt(data, p.at); err != nil {
		return nil, fmt.Errorf("%s: %w", p.file.Name, err)
	}
	return data, nil
}

// Decode decodes the data of a piece, which is JSON without unknown fields, into x.
func (p *Piece) Decode(x any) error {
	data, err := p.Load()
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(x)
}

// Pieces returns the pieces of the file, without their data.
func (f *File) Pieces() []*Piece { return f.pieces }

// differs returns an error if another file is of another job; it names the first difference.
func (f *File) differs(g *File) error {
	apart := func(what string) error { return fmt.Errorf("%s and %s are of different %s", f.Name, g.Name, what) }
	if f.Build != g.Build {
		return fmt.Errorf("%s and %s were made by different builds, %s and %s", f.Name, g.Name, f.Build, g.Build)
	}
	if f.Count != g.Count {
		return fmt.Errorf("%s is shard %v and %s is shard %v: want parts of the same number", f.Name, f.Part, g.Name, g.Part)
	}
	if i := difference(f.Means, g.Means); i >= 0 {
		return apart(fmt.Sprintf("jobs: found %s and %s", word(f.Means, i), word(g.Means, i)))
	}
	if len(f.Inputs) != len(g.Inputs) {
		return apart("files")
	}
	for i := range f.Inputs {
		if f.Inputs[i] != g.Inputs[i] {
			return apart("files: " + f.Inputs[i].Name)
		}
	}
	return nil
}

// SameMeans returns an error if a command line means another job than that of the shards.
func SameMeans(shards, now []string) error {
	if i := difference(shards, now); i >= 0 {
		return fmt.Errorf("the command means another job than the shards': found %s, want %s, as they have it", word(now, i), word(shards, i))
	}
	return nil
}

func difference(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if word(a, i) != word(b, i) {
			return i
		}
	}
	return -1
}

func word(words []string, i int) string {
	if i >= len(words) {
		return "nothing"
	}
	return words[i]
}

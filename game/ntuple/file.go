package ntuple

import (
	"bufio"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"tilecheck/game"
)

// fileFormat is the first line of a file. The header is text, each line ended by a newline:
//
//	tilecheck ntuple 1
//	board 3x3
//	largest 1024                    the largest tile that the network knows; an empty cell is 0
//	note 100000 games, seed 1       how it was trained
//	tuple 0 1 2 3 4 5               the cells of a tuple, row-major from 0; at least one
//	weights 1771561 crc32c 12345678 the number of all weights, and the CRC-32C of their bytes before compression
//
// Then follow the weights, compressed by DEFLATE (RFC 1951): float32, little-endian, the tables of the tuples one after the other, each in the order
// of the index e0 + v e1 + v^2 e2 ..., where ei is the exponent in the i-th cell of the tuple, 0 for an empty cell, and v is log2(largest)+1.
const fileFormat = "tilecheck ntuple 1"

// maxLine is the length of the longest line of a header.
const maxLine = 1 << 10

// Write writes the network to w: a header with the tuples, and the compressed weights with a checksum.
func (n *Network) Write(w io.Writer) error {
	writer := bufio.NewWriter(w)
	fmt.Fprintf(writer, "%s\nboard %v\nlargest %d\nnote %s\n", fileFormat, n.shape, game.Value(n.Largest()), n.note)
	for _, tuple := range n.tuples {
		fmt.Fprintf(writer, "tuple %s\n", strings.Trim(fmt.Sprint(tuple), "[]"))
	}
	crc := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	n.writeWeights(crc)
	fmt.Fprintf(writer, "weights %d crc32c %08x\n", n.Weights(), crc.Sum32())
	packed, err := flate.NewWriter(writer, flate.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(n.writeWeights(packed), packed.Close(), writer.Flush())
}

// writeWeights writes the weights to w as float32 numbers, the low byte first.
func (n *Network) writeWeights(w io.Writer) error {
	writer := bufio.NewWriterSize(w, 1<<16)
	var word [4]byte
	for _, weights := range n.weights {
		for _, weight := range weights {
			binary.LittleEndian.PutUint32(word[:], math.Float32bits(weight))
			writer.Write(word[:])
		}
	}
	return writer.Flush()
}

// FileError is an error in a file of a network. Line is 0 if it is in the weights.
type FileError struct {
	File      string
	Line, Col int
	Msg       string
}

// Error returns "file:line:col: message", for the weights "file: message".
func (e *FileError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

// ReadFile reads a network from the file with a path. The error is an error of the system or a *FileError.
func ReadFile(path string) (network *Network, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return Read(file, path)
}

// Read reads the file of a network; messages call it file. It allocates memory for the weights only after it has checked that they are at most
// MaxWeights. The error is one of r or a *FileError.
func Read(r io.Reader, file string) (*Network, error) {
	head := header{file: file, r: bufio.NewReaderSize(r, maxLine)}
	network, sum, err := head.read()
	if err != nil {
		return nil, err
	}
	packed := flate.NewReader(head.r)
	crc := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	weightsReader := bufio.NewReaderSize(io.TeeReader(packed, crc), 1<<16)
	var word [4]byte
	for _, weights := range network.weights {
		for i := range weights {
			if _, err := io.ReadFull(weightsReader, word[:]); err != nil {
				return nil, &FileError{File: file, Msg: fmt.Sprintf("the weights end early or are damaged (%v), want %d of them", err, network.Weights())}
			}
			weight := math.Float32frombits(binary.LittleEndian.Uint32(word[:]))
			if math.IsNaN(float64(weight)) || math.IsInf(float64(weight), 0) {
				return nil, &FileError{File: file, Msg: fmt.Sprintf("weight %d is %v, want a number", i, weight)}
			}
			weights[i] = weight
		}
	}
	switch _, err := weightsReader.ReadByte(); {
	case err == nil:
		return nil, &FileError{File: file, Msg: fmt.Sprintf("more weights than %d", network.Weights())}
	case err != io.EOF:
		return nil, &FileError{File: file, Msg: fmt.Sprintf("the weights are damaged: %v", err)}
	case crc.Sum32() != sum:
		return nil, &FileError{File: file, Msg: fmt.Sprintf("the weights are damaged: their CRC-32C is %08x, want %08x", crc.Sum32(), sum)}
	}
	return network, nil
}

// header reads the header of a file.
type header struct {
	file string
	r    *bufio.Reader
	line int
}

func (h *header) errorf(col int, format string, args ...any) error {
	return &FileError{h.file, h.line, col, fmt.Sprintf(format, args...)}
}

// next returns the rest of the next line, which must begin with key. With the key empty it returns the line.
func (h *header) next(key string) (string, error) {
	h.line++
	text, err := h.r.ReadSlice('\n')
	switch {
	case err == bufio.ErrBufferFull:
		return "", h.errorf(1, "the line is longer than %d bytes, want %s", maxLine, key)
	case err == io.EOF:
		return "", h.errorf(len(text)+1, "the file ends here, want %s", key)
	case err != nil:
		return "", err
	}
	line := strings.TrimSuffix(string(text), "\n")
	value, hasKey := strings.CutPrefix(line, key)
	if !hasKey {
		return "", h.errorf(1, "found %.40q, want %s", line, key)
	}
	return value, nil
}

// read reads the header. It returns the network with weights of 0, and the CRC that the weights in the file must have.
func (h *header) read() (network *Network, checksum uint32, err error) {
	if text, err := h.next(fileFormat); err != nil {
		return nil, 0, err
	} else if text != "" {
		return nil, 0, h.errorf(len(fileFormat)+1, "found %.40q, want %s", fileFormat+text, fileFormat)
	}
	text, err := h.next("board ")
	if err != nil {
		return nil, 0, err
	}
	var shape game.Shape
	if fields, _ := fmt.Sscanf(text, "%dx%d", &shape.Rows, &shape.Cols); fields != 2 || shape.String() != text || shape.Validate() != nil {
		return nil, 0, h.errorf(7, "found %.40q, want rows x columns such as 3x3", text)
	}
	if text, err = h.next("largest "); err != nil {
		return nil, 0, err
	}
	largest := 1
	for largest <= game.MaxExponent && strconv.Itoa(game.Value(largest)) != text {
		largest++
	}
	if largest > game.MaxExponent {
		return nil, 0, h.errorf(9, "found %.40q, want a power of two from 2 to %d", text, game.Value(game.MaxExponent))
	}
	note, err := h.next("note ")
	if err != nil {
		return nil, 0, err
	}
	tuples, counts, err := h.tuples()
	if err != nil {
		return nil, 0, err
	}
	if network, err = New(shape, largest, tuples); err != nil {
		return nil, 0, h.errorf(1, "%v", err)
	}
	network.note = note
	if wantedPrefix := fmt.Sprintf("%d crc32c ", network.Weights()); !strings.HasPrefix(counts, wantedPrefix) {
		return nil, 0, h.errorf(9, "found %.40q, want %q and eight hexadecimal digits", counts, wantedPrefix)
	}
	digits := counts[strings.LastIndexByte(counts, ' ')+1:]
	sum, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) != 8 {
		return nil, 0, h.errorf(9, "found %.40q, want a checksum of eight hexadecimal digits", counts)
	}
	return network, uint32(sum), nil
}

// tuples reads the lines with the tuples, and the line "weights ..." after them. counts is the text behind the word weights.
func (h *header) tuples() (tuples [][]int, counts string, err error) {
	for {
		line, err := h.next("")
		if err != nil {
			return nil, "", err
		}
		if text, ok := strings.CutPrefix(line, "weights "); ok {
			return tuples, text, nil
		}
		text, ok := strings.CutPrefix(line, "tuple ")
		if !ok || len(tuples) == MaxTuples {
			return nil, "", h.errorf(1, "found %.40q, want weights, or tuple and cells (at most %d tuples)", line, MaxTuples)
		}
		tuple, err := ParseTuple(text)
		if err != nil {
			return nil, "", h.errorf(7, "%v", err)
		}
		tuples = append(tuples, tuple)
	}
}

// ParseTuple reads the cells of a tuple, separated by blanks or commas.
func ParseTuple(text string) ([]int, error) {
	var tuple []int
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		cell, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("found %.40q, want the number of a cell", word)
		}
		tuple = append(tuple, cell)
	}
	return tuple, nil
}

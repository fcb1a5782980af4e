package disk

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"unsafe"
)

// Mark says what a property knows of a state before its equations are solved.
type Mark uint8

// The marks.
const (
	Unknown  Mark = iota // the value is a solution of the equations
	One                  // the value is 1
	Zero                 // the value is 0
	Infinite             // the value is infinite
)

const (
	markBits     = 2
	marksPerByte = 8 / markBits
	markMask     = 1<<markBits - 1
)

// Marker returns the mark of a state.
type Marker func(state []int32) (Mark, error)

// WriteMarks computes the marks of all states in several goroutines, and writes them to a new file, whose name it returns. Each goroutine calls newMarker to
// get its own function that computes marks.
func (space *Space) WriteMarks(ctx context.Context, newMarker func() (Marker, error)) (name string, err error) {
	name = space.Directory.NewName("marks")
	file, err := space.Directory.createFile(name)
	if err != nil {
		return "", err
	}
	space.Directory.Expect((space.States.Count + marksPerByte - 1) / marksPerByte)
	tasks := newTasks((space.States.numBlocks() + blocksPerMarkTask - 1) / blocksPerMarkTask)
	var wg sync.WaitGroup
	for range space.expanders {
		marker, err := newMarker()
		if err != nil {
			return "", errors.Join(err, file.Close())
		}
		writer := &markWriter{Space: space, file: file, marker: marker, cursor: space.States.NewCursor(), state: make([]int32, len(space.Packing.Fields))}
		wg.Go(func() { tasks.runAll(ctx, writer.writeMarks) })
	}
	wg.Wait()
	if err := errors.Join(tasks.err, file.Close()); err != nil {
		return "", errors.Join(err, space.Directory.removeFile(name))
	}
	return name, nil
}

// WriteMarks writes the marks of the states 0 to count-1 to a new file, and returns the name of the file. mark returns the mark of a state.
func (directory *Directory) WriteMarks(count int64, mark func(state int64) Mark) (name string, err error) {
	name = directory.NewName("marks")
	file, err := directory.createFile(name)
	if err != nil {
		return "", err
	}
	directory.Expect((count + marksPerByte - 1) / marksPerByte)
	out := bufio.NewWriterSize(output{directory, file}, 1<<16)
	for state := int64(0); state < count && err == nil; state += marksPerByte {
		encoded := byte(0)
		for i := range min(marksPerByte, count-state) {
			encoded |= byte(mark(state+i)) << (i * markBits)
		}
		err = out.WriteByte(encoded)
	}
	if err := errors.Join(err, out.Flush(), file.Close()); err != nil {
		return "", errors.Join(err, directory.removeFile(name))
	}
	return name, nil
}

const (
	// blocksPerMarkTask is the number of blocks of states whose marks a task writes.
	blocksPerMarkTask = 64
	// tasksPerReport is the number of tasks between two reports of the progress.
	tasksPerReport = 256
)

// markWriter writes the marks of states in one goroutine.
type markWriter struct {
	*Space
	file   *os.File
	marker Marker
	cursor *Cursor
	state  []int32  // the buffer for the valuation of a state
	keys   []uint64 // the buffer for the states of a task
	marks  []byte   // the buffer for their encoded marks
}

// writeMarks computes the marks of the states of one task, which are those of blocksPerMarkTask successive blocks of keys, and writes them to the file.
func (writer *markWriter) writeMarks(task int) (err error) {
	if writer.keys, err = writer.cursor.Range(writer.keys[:0], task*blocksPerMarkTask, (task+1)*blocksPerMarkTask); err != nil {
		return err
	}
	writer.marks = writer.marks[:0]
	for i := 0; i < len(writer.keys); i += writer.Packing.Words {
		writer.Packing.Unpack(writer.state, writer.keys[i:])
		mark, err := writer.marker(writer.state)
		if err != nil {
			return err
		}
		number := i / writer.Packing.Words
		if number%marksPerByte == 0 {
			writer.marks = append(writer.marks, 0)
		}
		writer.marks[len(writer.marks)-1] |= byte(mark) << (number % marksPerByte * markBits)
	}
	first := int64(task) * blocksPerMarkTask * setBlock // the number of the task's first state
	if writer.opts.Progress != nil && task%tasksPerReport == 0 {
		writer.reportStates(first, "evaluating the operands of the property")
	}
	return outputAt{writer.Directory, writer.file, first / marksPerByte}.writeAll(writer.marks)
}

// outputAt is an output that begins at an offset.
type outputAt struct {
	dir    *Directory
	file   *os.File
	offset int64
}

// writeAll writes all data at the offset. A full disk is a *FullError.
func (out outputAt) writeAll(data []byte) error {
	if quota := out.dir.quotaBytes; quota > 0 && out.dir.usedBytes.Load()+int64(len(data)) > quota {
		return out.dir.fullError(int64(len(data)))
	}
	n, err := out.file.WriteAt(data, out.offset)
	out.dir.usedBytes.Add(int64(n))
	return out.dir.writeError(err, int64(len(data)-n))
}

// File is a file of marks or values that is open for reading. It is safe for concurrent use.
type File struct{ file *os.File }

// Open opens a file of the directory.
func (directory *Directory) Open(name string) (*File, error) {
	file, err := os.Open(directory.Path(name))
	if err != nil {
		return nil, err
	}
	return &File{file: file}, nil
}

// Close closes the file.
func (file *File) Close() error { return file.file.Close() }

// Marks reads the marks of successive states, the first of which has the number first, until the slice marks is full.
func (file *File) Marks(marks []Mark, first int64) error {
	start := first / marksPerByte
	size := int((first+int64(len(marks))+marksPerByte-1)/marksPerByte - start)
	data := make([]byte, size)
	if _, err := file.file.ReadAt(data, start); err != nil {
		return fmt.Errorf("read %s: %w", file.file.Name(), err)
	}
	for i := range marks {
		position := first + int64(i)
		marks[i] = Mark(data[position/marksPerByte-start] >> (position % marksPerByte * markBits) & markMask)
	}
	return nil
}

// Values reads len(values) numbers, from index first on.
func (file *File) Values(values []float64, first int64) error {
	if len(values) == 0 {
		return nil
	}
	data := bytesOf(values)
	if _, err := file.file.ReadAt(data, 8*first); err != nil {
		return fmt.Errorf("read %s: %w", file.file.Name(), err)
	}
	if !littleEndian {
		for i := range values {
			values[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
	}
	return nil
}

// littleEndian says that the memory of this machine has the bytes of a number in the order of the files.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// bytesOf returns the memory of some values.
func bytesOf(values []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 8*len(values))
}

// WriteValues writes values to a file with a name of NewName. After an error it removes the file.
func (directory *Directory) WriteValues(name string, values []float64) error {
	file, err := directory.createFile(name)
	if err != nil {
		return err
	}
	directory.Expect(8 * int64(len(values)))
	err = writeValues(output{directory, file}, values)
	if err := errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, directory.removeFile(name))
	}
	return nil
}

// appendLittleEndian appends the bytes of values in little-endian order.
func appendLittleEndian(data []byte, values []float64) []byte {
	for _, value := range values {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(value))
	}
	return data
}

// writeValues writes values as little-endian float64 numbers.
func writeValues(out output, values []float64) error {
	const blockLength = 1 << 17
	var buffer []byte
	for len(values) > 0 {
		length := min(blockLength, len(values))
		data := bytesOf(values[:length])
		if !littleEndian {
			buffer = appendLittleEndian(buffer[:0], values[:length])
			data = buffer
		}
		if _, err := out.Write(data); err != nil {
			return err
		}
		values = values[length:]
	}
	return nil
}

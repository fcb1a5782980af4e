package solve

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"tilecheck/game"
)

// A file of a table is a header, a record for each layer in descending order of sums, a directory of them and a footer. See docs/solve.md.
const (
	fileMagic   = "2048solv"
	footerMagic = "2048done"
	fileVersion = 2
	// gameVersion is the version of tables against an opponent, which older programs do not know.
	gameVersion = 3

	fileHeaderSize = 64
	footerSize     = 32
	directoryFixed = 32 // bytes in front of the entries
	directoryEntry = 40 // bytes
)

// directory lists the layers of a file.
type directory struct {
	initial                float64
	positions, afterstates uint64
	layers                 []layerEntry
}

type layerEntry struct {
	sum                    uint32
	offset, size           uint64 // of the record
	positions, afterstates uint64
}

// appendChecksum appends the checksum of dst[start:].
func appendChecksum(dst []byte, start int) []byte {
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// verifyChecksum reports whether data ends with its checksum, and returns the data before it.
func verifyChecksum(data []byte) ([]byte, bool) {
	if len(data) < 4 {
		return nil, false
	}
	body := data[:len(data)-4]
	return body, crc32.Checksum(body, castagnoli) == binary.LittleEndian.Uint32(data[len(body):])
}

func appendFileHeader(dst []byte, problem Problem) []byte {
	start := len(dst)
	dst = append(dst, fileMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, versionFor(problem.Against))
	dst = append(dst, byte(problem.Shape.Rows), byte(problem.Shape.Cols), byte(problem.MaxExp), byte(problem.Objective))
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(problem.Discount))
	dst = binary.LittleEndian.AppendUint32(dst, problem.Twos)
	dst = binary.LittleEndian.AppendUint32(dst, problem.Total)
	dst = append(dst, byte(problem.Against))
	dst = append(dst, make([]byte, fileHeaderSize-4-(len(dst)-start))...)
	return appendChecksum(dst, start)
}

// versionFor returns the version of a table.
func versionFor(against Against) uint32 {
	if against == Chance {
		return fileVersion
	}
	return gameVersion
}

var errNoTable = errors.New("not a table of tilecheck solve")

// parseFileHeader parses the header. It reports a wrong version before a wrong checksum.
func parseFileHeader(data []byte) (Problem, error) {
	if len(data) < fileHeaderSize || string(data[:8]) != fileMagic {
		return Problem{}, errNoTable
	}
	against := Against(data[32])
	if version := binary.LittleEndian.Uint32(data[8:]); version != versionFor(against) {
		return Problem{}, fmt.Errorf("version of the table is %d, want %d: another version of tilecheck wrote it, solve it again", version, versionFor(against))
	}
	body, ok := verifyChecksum(data[:fileHeaderSize])
	if !ok {
		return Problem{}, errors.New("the header is corrupt: its checksum is wrong")
	}
	problem := Problem{
		Shape:  game.Shape{Rows: int(body[12]), Cols: int(body[13])},
		MaxExp: int(body[14]), Objective: Objective(body[15]),
		Discount: math.Float64frombits(binary.LittleEndian.Uint64(body[16:])),
		Twos:     binary.LittleEndian.Uint32(body[24:]), Total: binary.LittleEndian.Uint32(body[28:]),
		Against: against,
	}
	return problem, problem.validate()
}

func (d directory) append(dst []byte) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(d.initial))
	dst = binary.LittleEndian.AppendUint64(dst, d.positions)
	dst = binary.LittleEndian.AppendUint64(dst, d.afterstates)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(d.layers)))
	for _, entry := range d.layers {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(entry.sum))
		for _, number := range [...]uint64{entry.offset, entry.size, entry.positions, entry.afterstates} {
			dst = binary.LittleEndian.AppendUint64(dst, number)
		}
	}
	return appendChecksum(dst, start)
}

// parseDirectory parses the directory of a table: the value of the game, the sizes, and the position of each layer in the file.
func parseDirectory(data []byte) (directory, error) {
	body, ok := verifyChecksum(data)
	if !ok || len(body) < directoryFixed || (len(body)-directoryFixed)%directoryEntry != 0 {
		return directory{}, errors.New("the directory is corrupt: its checksum is wrong")
	}
	number := func(i int) uint64 { return binary.LittleEndian.Uint64(body[8*i:]) }
	result := directory{initial: math.Float64frombits(number(0)), positions: number(1), afterstates: number(2)}
	layers := (len(body) - directoryFixed) / directoryEntry
	if number(3) != uint64(layers) {
		return result, fmt.Errorf("the directory has %d layers, want %d", layers, number(3))
	}
	for i := range layers {
		first := (directoryFixed + i*directoryEntry) / 8
		result.layers = append(result.layers, layerEntry{uint32(number(first)), number(first + 1), number(first + 2), number(first + 3), number(first + 4)})
	}
	return result, nil
}

// appendFooter appends the footer, which has the offset and the size of the directory.
func appendFooter(dst []byte, offset, size uint64) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, offset)
	dst = binary.LittleEndian.AppendUint64(dst, size)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = append(dst, footerMagic...)
	return appendChecksum(dst, start)
}

func parseFooter(data []byte) (offset, size uint64, err error) {
	body, ok := verifyChecksum(data)
	if !ok || string(body[20:]) != footerMagic {
		return 0, 0, errors.New("the end is missing: the table is truncated, or not complete")
	}
	return binary.LittleEndian.Uint64(body), binary.LittleEndian.Uint64(body[8:]), nil
}

package play

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"tilecheck/internal/filelock"
	"tilecheck/internal/noun"
)

// stateFile keeps the finished games of one strategy in a file that only grows. A nil *stateFile keeps nothing.
//
// The first lines are the header. It describes the experiment, so that games of another experiment are not accepted. Every other line is a game,
// in the order in which the games were finished: index, score, moves, spawns, exponent of the largest tile, won, moves to the win, moves at
// which a shield acted, overflow, nanoseconds, and the CRC-32C of header and line. Each line is written by one system call. So a kill damages at
// most the last line, which is removed when the file is opened again.
type stateFile struct {
	file           *os.File
	headerChecksum uint32         // of the header
	games          map[int64]Game // the games in the file when it was opened
	damagedBytes   int64          // bytes at the end that were damaged and removed

	writeMutex sync.Mutex
}

// stateFormat is the version of the file format and of how games follow from the seed.
const stateFormat = 2

// header returns the header of a state file. Two runs with the same header play the same games.
func header(match Match, strategy, version string) string {
	goal, end := matchWords(match)
	return fmt.Sprintf("tilecheck games %d\nversion %s\nstrategy %s\nboard %v\nmax %s\nwin %s\n%sseed %d\n\n",
		stateFormat, version, strategy, match.Shape, goal, end, opponentLine(match), match.Seed)
}

// statePath returns the path of a strategy's state file in a directory, which it creates if necessary. The name has the beginning of the strategy and
// a checksum of the experiment. The checksum leaves out the version, so that games of another build are found and refused.
func statePath(dir string, match Match, strategy string) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("state: %w", err)
	}
	name := strings.Map(func(character rune) rune {
		if character >= 'a' && character <= 'z' || character >= '0' && character <= '9' || character == '-' {
			return character
		}
		return '_'
	}, strategy)
	checksum := crc32.Checksum([]byte(header(match, strategy, "")), castagnoli())
	return filepath.Join(dir, fmt.Sprintf("%.60s-%08x.games", name, checksum)), nil
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// openState opens the state file of an experiment, or creates it. It returns an error if the file belongs to another experiment, which has another
// header, or if another process uses it.
func openState(path, header string) (state *stateFile, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("state %q: %w", path, err), file.Close())
		}
	}()
	if err := filelock.Take(file); err != nil {
		return nil, err
	}
	state = &stateFile{file: file, headerChecksum: crc32.Checksum([]byte(header), castagnoli()), games: make(map[int64]Game)}
	return state, state.read(header)
}

// read reads the games in the file, and cuts damaged lines off its end. A new file gets the header. Then games can be appended.
func (s *stateFile) read(header string) error {
	reader := bufio.NewReaderSize(s.file, 1<<16)
	beginning := make([]byte, len(header))
	length, err := io.ReadFull(reader, beginning)
	switch {
	case err == nil && string(beginning) == header:
	case (err == io.EOF || err == io.ErrUnexpectedEOF) && strings.HasPrefix(header, string(beginning[:length])):
		// The file is new, or its writer was killed before the header was complete: there are no games yet.
		if err := s.file.Truncate(0); err != nil {
			return err
		}
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		_, err := s.file.WriteString(header)
		return err
	case err == nil || err == io.EOF || err == io.ErrUnexpectedEOF:
		return otherExperiment(string(beginning[:length]), header)
	default:
		return err
	}
	intact, err := s.readGames(reader)
	if err != nil {
		return err
	}
	return s.cutAfter(int64(len(header)) + intact)
}

// otherExperiment returns the error that a state file has another header. It names the first line that differs.
func otherExperiment(foundHeader, wantedHeader string) error {
	lines := strings.Split(foundHeader, "\n")
	for i, line := range strings.Split(wantedHeader, "\n") {
		if i >= len(lines) || lines[i] != line {
			if i == 0 && strings.HasPrefix(lines[i], "tilecheck games ") {
				return fmt.Errorf("another version of tilecheck wrote it: found %q, want %q; keep games elsewhere, or remove the file", lines[i], line)
			}
			if i == 0 || i >= len(lines) {
				return fmt.Errorf("it is no state of this program, want a file that begins with %q", strings.SplitN(wantedHeader, "\n", 2)[0])
			}
			if build, ok := strings.CutPrefix(line, "version "); ok {
				return fmt.Errorf("its games were played by another build: found %q, want %q; another build may play otherwise, so keep games elsewhere, or remove the file",
					strings.TrimPrefix(lines[i], "version "), build)
			}
			return fmt.Errorf("it is of another experiment: found %q, want %q", lines[i], line)
		}
	}
	return errors.New("it is of another experiment")
}

// readGames reads lines up to the first damaged one and returns the number of intact bytes.
func (s *stateFile) readGames(reader *bufio.Reader) (intact int64, err error) {
	for {
		line, err := reader.ReadSlice('\n')
		if err == io.EOF || err == bufio.ErrBufferFull {
			return intact, nil
		}
		if err != nil {
			return intact, err
		}
		finished, ok := parseGame(s.headerChecksum, line[:len(line)-1])
		if !ok {
			return intact, nil
		}
		if _, duplicate := s.games[finished.Index]; duplicate {
			return intact, nil // append never writes a game twice, so the line is damaged
		}
		s.games[finished.Index] = finished
		intact += int64(len(line))
	}
}

// cutAfter truncates the file to its first size bytes.
func (s *stateFile) cutAfter(size int64) error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if s.damagedBytes = info.Size() - size; s.damagedBytes > 0 {
		if err := s.file.Truncate(size); err != nil {
			return err
		}
	}
	_, err = s.file.Seek(size, io.SeekStart)
	return err
}

// finished returns a game that was finished before this run.
func (s *stateFile) finished(index int64) (Game, bool) {
	if s == nil {
		return Game{}, false
	}
	finishedGame, ok := s.games[index]
	return finishedGame, ok
}

// resumedGames returns how many games with an index below games were in the file, and a warning if it was damaged.
func (s *stateFile) resumedGames(games int64) (numKnown int64, warnings []string) {
	for index := range s.games {
		if index < games {
			numKnown++
		}
	}
	if s.damagedBytes > 0 {
		warnings = append(warnings, fmt.Sprintf("state %q: the last %s, which are damaged, are cut; their games are played again",
			s.file.Name(), noun.Count(s.damagedBytes, "byte")))
	}
	return numKnown, warnings
}

// append appends games to the file.
func (s *stateFile) append(games []Game) error {
	if s == nil || len(games) == 0 {
		return nil
	}
	var text []byte
	for _, finished := range games {
		text = appendGame(text, s.headerChecksum, finished)
	}
	s.writeMutex.Lock()
	defer s.writeMutex.Unlock()
	if _, err := s.file.Write(text); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	return nil
}

// close syncs the games to the disk and closes the file.
func (s *stateFile) close() error {
	if s == nil {
		return nil
	}
	return errors.Join(s.file.Sync(), s.file.Close())
}

// appendGame appends the line of a game to a text: its numbers, and a checksum of the header and of these numbers.
func appendGame(text []byte, headerChecksum uint32, finished Game) []byte {
	start := len(text)
	for _, number := range []int64{finished.Index, finished.Score, finished.Moves, finished.Spawns, int64(finished.Max), bit(finished.Won), finished.WinMoves, finished.Acts, bit(finished.Overflow), int64(finished.Time)} {
		text = strconv.AppendInt(text, number, 10)
		text = append(text, ' ')
	}
	checksum := crc32.Update(headerChecksum, castagnoli(), text[start:])
	return fmt.Appendf(text, "%08x\n", checksum)
}

// parseGame parses a line without its line end. ok is false if appendGame does not write exactly this line.
func parseGame(headerChecksum uint32, line []byte) (result Game, ok bool) {
	fields := bytes.Fields(line)
	var numbers [10]int64
	if len(fields) != len(numbers)+1 {
		return result, false
	}
	for i := range numbers {
		var err error
		if numbers[i], err = strconv.ParseInt(string(fields[i]), 10, 64); err != nil {
			return result, false
		}
	}
	result = Game{
		Index: numbers[0], Score: numbers[1], Moves: numbers[2], Spawns: numbers[3], Max: int(numbers[4]),
		Won: numbers[5] == 1, WinMoves: numbers[6], Acts: numbers[7], Overflow: numbers[8] == 1, Time: time.Duration(numbers[9]),
	}
	written := appendGame(nil, headerChecksum, result)
	return result, bytes.Equal(written[:len(written)-1], line)
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

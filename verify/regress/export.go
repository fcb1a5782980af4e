package regress

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"tilecheck/report"
)

// exportFiles lists the existing files for the target of an export, "out.all" or "out.tra,sta". The files of several
// reward structures are numbered.
//
// Source: getExpectedOutFilesFromArgs in prism-auto.
func exportFiles(fsys fs.FS, target string) []string { return filesOf(fsys, target, "") }

// filesOf lists files whose names end with a suffix that the target does not have.
func filesOf(fsys fs.FS, target, suffix string) []string {
	first, more := target, []string(nil)
	if parts := strings.Split(target, ","); len(parts) > 1 {
		first, more = parts[0], parts[1:]
	}
	ext := strings.TrimPrefix(path.Ext(first), ".")
	base := strings.TrimSuffix(first, path.Ext(first))
	exts := []string{ext}
	if ext == "all" {
		exts = []string{"lab", "tra", "sta", "srew", "trew", "obs"}
	}
	var out []string
	for _, ext := range slices.Concat(exts, more) {
		if name := base + "." + ext + suffix; exists(fsys, name) {
			out = append(out, name)
			continue
		}
		for i := 1; ; i++ {
			name := base + strconv.Itoa(i) + "." + ext + suffix
			if !exists(fsys, name) {
				break
			}
			out = append(out, name)
		}
	}
	return out
}

func exists(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && !info.IsDir()
}

// importFiles lists the files of an import: "in.all", "in.tra,sta" or one file. With .gz at its end, the target means
// compressed files.
func importFiles(fsys fs.FS, target string) ([]string, error) {
	suffix := zipped(target)
	found := filesOf(fsys, strings.TrimSuffix(target, suffix), suffix)
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no such file to import", target)
	}
	return found, nil
}

// compareExport compares a file with the output of a run. there is false if the run wrote no output.
func (u *unit) compareExport(file string, got []byte, there bool) report.TestResult {
	r := u.result(u.entrant, nil)
	r.File, r.Line, r.Col = u.opt.name(file), 0, 0
	r.Expected = "the contents of " + r.File
	want, err := u.read(file)
	switch {
	case err != nil:
		r.Outcome, r.Reason = report.TestError, err.Error()
	case !there:
		r.Outcome, r.Reason = report.TestFailed, "the export "+path.Base(file)+" was not written"
	case !bytes.Equal(want, got):
		r.Outcome = report.TestFailed
		r.Line, r.Got = firstDifference(want, got)
		r.Reason = fmt.Sprintf("the export %s differs from line %d on", path.Base(file), r.Line)
	default:
		r.Outcome = report.TestPassed
		r.Got = "the same"
	}
	return r
}

// firstDifference returns the number of the first different line, and a text with both lines.
func firstDifference(want, got []byte) (line int, text string) {
	a, b := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	for line = 0; line < len(a) && line < len(b) && bytes.Equal(a[line], b[line]); line++ {
	}
	cut := func(lines [][]byte) string {
		const most = 120
		switch {
		case line >= len(lines):
			return "the end"
		case len(lines[line]) > most:
			return strconv.Quote(string(lines[line][:most])) + "…"
		}
		return strconv.Quote(string(lines[line]))
	}
	return line + 1, fmt.Sprintf("%s instead of %s", cut(b), cut(a))
}

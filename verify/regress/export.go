package regress

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"tilecheck/report"
)

// exportFiles returns the existing files for the target of an export, such as "out.all" or "out.tra,sta".
//
// Source: getExpectedOutFilesFromArgs in prism-auto.
func exportFiles(fileSystem fs.FS, target string) []string {
	return existingFiles(fileSystem, target, "")
}

// existingFiles returns the existing files for the target of an export or import, such as model.tra,sta or model.all. suffix is the extension of
// compressed files, or empty.
func existingFiles(fileSystem fs.FS, target, suffix string) []string {
	first, otherExts, _ := strings.Cut(target, ",")
	base := strings.TrimSuffix(first, path.Ext(first))
	exts := []string{strings.TrimPrefix(path.Ext(first), ".")}
	if exts[0] == "all" {
		exts = []string{"lab", "tra", "sta", "srew", "trew", "obs"}
	}
	if otherExts != "" {
		exts = append(exts, strings.Split(otherExts, ",")...)
	}
	var existing []string
	for _, extension := range exts {
		if name := base + "." + extension + suffix; exists(fileSystem, name) {
			existing = append(existing, name)
		} else { // each of several reward structures has a numbered file
			existing = append(existing, numberedFiles(fileSystem, base, "."+extension+suffix)...)
		}
	}
	return existing
}

// numberedFiles returns the existing files with the names base1ext, base2ext and so on.
func numberedFiles(fileSystem fs.FS, base, extension string) []string {
	var existing []string
	for i := 1; ; i++ {
		name := base + strconv.Itoa(i) + extension
		if !exists(fileSystem, name) {
			return existing
		}
		existing = append(existing, name)
	}
}

// exists reports whether a file exists and is not a directory.
func exists(fileSystem fs.FS, name string) bool {
	info, err := fs.Stat(fileSystem, name)
	return err == nil && !info.IsDir()
}

// importFiles returns the existing files for the target of an import, such as "in.all", "in.tra,sta" or "in.all.gz".
func importFiles(fileSystem fs.FS, target string) ([]string, error) {
	suffix := gzipExtension(target)
	existing := existingFiles(fileSystem, strings.TrimSuffix(target, suffix), suffix)
	if len(existing) == 0 {
		return nil, fmt.Errorf("%s: no such file to import", target)
	}
	return existing, nil
}

// FilesOfSwitches returns the existing files that the switches of a test name: imports, and the expected files of exports.
func FilesOfSwitches(fileSystem fs.FS, test *Test) []string {
	var existing []string
	for _, arg := range test.Args {
		target, _, _ := strings.Cut(arg, ":") // without its options
		if target == "" || strings.HasPrefix(target, "-") {
			continue
		}
		target = path.Join(test.Dir, target)
		if exists(fileSystem, target) {
			existing = append(existing, target)
			continue
		}
		suffix := gzipExtension(target)
		existing = append(existing, existingFiles(fileSystem, strings.TrimSuffix(target, suffix), suffix)...)
	}
	return existing
}

// compareExport compares an expected file with the file that a run exported, byte by byte. isWritten is false if the run did not write the file.
func (run *testRun) compareExport(file string, got []byte, isWritten bool) report.TestResult {
	compared := run.newResult(run.engine, nil)
	compared.File = run.options.name(file)
	compared.Line, compared.Col = 0, 0 // the result is about the whole file
	compared.Expected = "the contents of " + compared.File
	want, err := run.read(file)
	switch {
	case err != nil:
		compared.Outcome, compared.Reason = report.TestError, err.Error()
	case !isWritten:
		compared.Outcome, compared.Reason = report.TestFailed, "the export "+path.Base(file)+" was not written"
	case !bytes.Equal(want, got):
		compared.Outcome = report.TestFailed
		compared.Line, compared.Got = firstDifference(want, got)
		compared.Reason = fmt.Sprintf("the export %s differs from line %d on", path.Base(file), compared.Line)
	default:
		compared.Outcome = report.TestPassed
		compared.Got = "the same"
	}
	return compared
}

// firstDifference returns the number of the first different line, counted from 1, and a text that shows this line of each file.
func firstDifference(want, got []byte) (line int, text string) {
	wantLines, gotLines := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	for line < len(wantLines) && line < len(gotLines) && bytes.Equal(wantLines[line], gotLines[line]) {
		line++
	}
	quoteLine := func(lines [][]byte) string {
		const maxLength = 120
		switch {
		case line >= len(lines):
			return "the end"
		case len(lines[line]) > maxLength:
			return strconv.Quote(string(lines[line][:maxLength])) + "…"
		}
		return strconv.Quote(string(lines[line]))
	}
	return line + 1, fmt.Sprintf("%s instead of %s", quoteLine(gotLines), quoteLine(wantLines))
}

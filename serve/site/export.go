package site

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tilecheck/game/solve/draw"
	"tilecheck/runner"
	"tilecheck/runner/local"
)

// Program is a compiled playground.
type Program struct {
	Module []byte // compressed
	Exec   []byte // wasm_exec.js of the same Go toolchain
}

const (
	moduleFile = "playground.bin"
	execFile   = "wasm_exec.js"
)

// Files returns the files of the playground by name.
func Files(program Program) (map[string][]byte, error) {
	files := pageFiles("worker")
	graphviz, err := graphvizModule()
	if err != nil {
		return nil, err
	}
	// The page itself sets the policy that a server sets in headers; only the frame policy is impossible.
	meta := []byte(`<meta http-equiv="Content-Security-Policy" content="` + Policy + `">`)
	files["index.html"] = bytes.Replace(files["index.html"], []byte("<head>"), append([]byte("<head>\n"), meta...), 1)
	files["NOTICE"] = draw.Notice()
	files[graphvizFile], files[moduleFile], files[execFile] = graphviz, program.Module, program.Exec
	if files[serviceWorkerFile], err = serviceWorker(files); err != nil {
		return nil, err
	}
	return files, nil
}

// serviceWorkerFile is the service worker that caches the playground in the browser. On a served
// page it deletes such a cache.
const serviceWorkerFile = "sw.js"

// serviceWorker returns the service worker with the hashes of all other files, so that it changes,
// and browsers update, when any file changes.
func serviceWorker(files map[string][]byte) ([]byte, error) {
	sums := make(map[string]string)
	for name, data := range files {
		if name != serviceWorkerFile {
			sum := sha256.Sum256(data)
			sums[name] = "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
		}
	}
	list, err := json.Marshal(sums)
	if err != nil {
		return nil, err
	}
	text := bytes.Replace(files[serviceWorkerFile], []byte("const files = {};"), fmt.Appendf(nil, "const files = %s;", list), 1)
	return bytes.Replace(text, []byte("const cache = mine + '';"), fmt.Appendf(nil, "const cache = mine + '%x';", sha256.Sum256(list)), 1), nil
}

// Export writes the playground to a folder, which it creates if necessary.
func Export(dir string, program Program, write func(name string, write func(io.Writer) error) error) error {
	files, err := Files(program)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		put := func(w io.Writer) error { _, err := w.Write(files[name]); return err }
		if err := write(filepath.Join(dir, name), put); err != nil {
			return err
		}
	}
	return nil
}

// errNoPage is the error if there is no playground and it cannot be built.
var errNoPage = errors.New("this build of tilecheck has no static page in it: use a release, or start it in the directory of its source with Go installed")

// sourceOfPage is the directory of the playground in the source of tilecheck.
const sourceOfPage = "cmd/playground"

// Make returns the embedded playground. If there is none, it builds one with the Go toolchain from
// the source of tilecheck in the working directory.
func Make(ctx context.Context, temporary string) (Program, error) {
	if program := built(); program.Module != nil {
		return program, nil
	}
	workingDir, err := os.Getwd()
	if err != nil {
		return Program{}, err
	}
	if !isInSource(workingDir) { // what the Go toolchain would say is of no use
		return Program{}, errNoPage
	}
	program, err := compile(ctx, workingDir, temporary)
	if err != nil {
		return program, fmt.Errorf("%w (%w)", errNoPage, err)
	}
	return program, nil
}

// isInSource reports whether a directory is in the source of tilecheck.
func isInSource(dir string) bool {
	for {
		if _, err := os.Stat(filepath.Join(dir, sourceOfPage)); err == nil {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}

// inlined are the packages of tilecheck that are compiled with inlining: those that solve equations and draw samples. The others read and write
// texts and answer requests: without inlining the playground is 0.5 MB smaller.
var inlined = []string{"game", "internal/interval", "native/simulate", "native/solve", "native/space/sparse"}

// notInlined are patterns of the packages that are compiled without inlining, except those of inlined. math/big is one of them: it is 40 kB, and exact
// arithmetic in a browser is for small models.
var notInlined = []string{
	"tilecheck/...", "bufio", "bytes", "compress/...", "context", "crypto/...", "encoding/...", "errors", "fmt", "io", "io/...", "math/big", "math/rand/...", "os",
	"path/...", "reflect", "slices", "sort", "strconv", "strings", "sync", "syscall/...", "text/...", "time", "unicode/...",
}

// compile builds the playground with the Go toolchain, in a directory of the source.
func compile(ctx context.Context, workingDir, temporary string) (Program, error) {
	goTool, err := local.New("go")
	if err != nil {
		return Program{}, err
	}
	file := filepath.Join(temporary, "playground.wasm")
	args := []string{"build", "-trimpath", "-ldflags=-s -w"}
	for _, pattern := range notInlined {
		args = append(args, "-gcflags="+pattern+"=-l")
	}
	for _, path := range inlined {
		args = append(args, "-gcflags=tilecheck/"+path+"=") // the last flag that matches is used
	}
	_, err = output(ctx, goTool.In(workingDir, "GOOS=js", "GOARCH=wasm"), append(args, "-o", file, "tilecheck/"+sourceOfPage)...)
	if err != nil {
		return Program{}, err
	}
	module, err := os.ReadFile(file)
	if err != nil {
		return Program{}, err
	}
	root, err := output(ctx, goTool.In(workingDir), "env", "GOROOT")
	if err != nil {
		return Program{}, err
	}
	var program Program
	if program.Exec, err = os.ReadFile(filepath.Join(strings.TrimSpace(root), "lib", "wasm", execFile)); err != nil {
		return Program{}, err
	}
	program.Module, err = compress(module)
	return program, err
}

// output runs a tool and returns what it prints.
func output(ctx context.Context, tool *local.Tool, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	exit, err := tool.Run(ctx, runner.Command{Args: args, Stdout: &stdout, Stderr: &stderr})
	switch {
	case err != nil:
		return "", err
	case ctx.Err() != nil:
		return "", ctx.Err()
	case exit.Code != 0:
		message := strings.TrimSpace(stderr.String())
		return "", errors.New("go " + args[0] + ": " + message[:min(len(message), 500)])
	}
	return stdout.String(), nil
}

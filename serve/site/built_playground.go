//go:build playground

package site

import _ "embed"

//go:generate go run tilecheck/cmd/tilecheck serve --export built

var (
	//go:embed built/playground.bin
	builtModule []byte
	//go:embed built/wasm_exec.js
	builtExec []byte
)

// built returns the embedded playground. The command go generate -tags playground ./serve/site
// makes its files.
func built() Program { return Program{builtModule, builtExec} }

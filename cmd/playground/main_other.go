//go:build !js

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "playground: this program runs in a browser: GOOS=js GOARCH=wasm go build ./cmd/playground")
	os.Exit(1)
}

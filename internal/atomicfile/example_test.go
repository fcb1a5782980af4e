package atomicfile_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"tilecheck/internal/atomicfile"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.prism")
	err = atomicfile.Write(path, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, "dtmc")
		return err
	})
	contents, _ := os.ReadFile(path)
	fmt.Printf("%q %v\n", contents, err)
	// Output: "dtmc\n" <nil>
}

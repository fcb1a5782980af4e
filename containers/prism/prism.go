package prism

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/testcontainers/testcontainers-go"

	"tilecheck/containers"
	"tilecheck/result"
	"tilecheck/runner"
)

// Product is PRISM or PRISM-games, which are started in the same way. Its text is
// the name of the tool in labels, in names of images and of the engine.
type Product string

// The products.
const (
	PRISM Product = "prism"
	Games Product = "prism-games"
)

// title returns the name of the product as the product prints it.
func (p Product) title() string {
	if p == Games {
		return "PRISM-games"
	}
	return "PRISM"
}

// Tool returns the product as a tool in an image that has prism on its PATH. Under a memory limit, the arguments of Memory precede the arguments of a
// run.
func (p Product) Tool() containers.Tool {
	return containers.Tool{
		Name:    string(p),
		Program: []string{"prism"},
		// PRISM keeps its settings at home, and the root file system is read-only.
		Env:    map[string]string{"HOME": "/tmp"},
		Memory: Memory,
		Missing: func(image string) string {
			return fmt.Sprintf("make it from an installation of %s with `tilecheck image %s --from DIR --tag %s`", p.title(), p, image)
		},
	}
}

// Kind returns how to find images of the product. There is no official image.
func (p Product) Kind() containers.Kind {
	kind := containers.Kind{
		Tool: p.Tool(), Words: []string{"prism", "umb-observatory"},
		Programs: []string{"prism", "/opt/prism/prism/bin/prism", "/opt/prism/bin/prism"}, Version: p.Version,
	}
	if p == Games {
		kind.Words = []string{"prism-games", "prismgames"}
		kind.Programs = []string{"prism", "/opt/prism-games/prism/bin/prism", "/opt/prism-games/bin/prism"}
	}
	return kind
}

// Memory returns PRISM's switches that keep its memory below limit bytes: for the heap of the Java virtual machine, and for the memory of CUDD, which
// is not in the heap. It omits a switch that args have. The remaining memory is for the virtual machine itself: its code, classes, stacks and
// buffers.
func Memory(limit int64, args []string) []string {
	const mb = 1 << 20
	overhead := max(160*mb, limit/8)
	cudd := min(1024*mb, (limit-overhead)/4)
	heap := limit - overhead - cudd
	var switches []string
	add := func(name string, bytes int64) {
		if !has(args, name) {
			switches = append(switches, "-"+name, fmt.Sprintf("%dm", max(bytes/mb, 16)))
		}
	}
	add("javamaxmem", heap)
	add("cuddmaxmem", cudd)
	return switches
}

// has reports whether args contain a switch, with one or two hyphens.
func has(args []string, name string) bool {
	for _, arg := range args {
		if strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-") == name && arg != name {
			return true
		}
	}
	return false
}

// Run starts a container of the product that is ready for checks. See containers.Docker.Start for the options. The caller must call Terminate.
func (p Product) Run(ctx context.Context, image string, opts ...testcontainers.ContainerCustomizer) (*containers.Container, error) {
	return containers.Run(ctx, p.Tool(), image, opts...)
}

// Version runs the product and returns its version, such as "4.10.2". It returns an error if the program is another product.
func (p Product) Version(ctx context.Context, commander runner.Commander) (string, error) {
	var stdout, stderr bytes.Buffer
	exit, err := commander.Run(ctx, runner.Command{Args: []string{"-version"}, Stdout: &stdout, Stderr: &stderr})
	if err != nil {
		return "", err
	}
	version, hasTitle := strings.CutPrefix(strings.TrimSpace(stdout.String()), p.title()+" version ")
	if exit.Code != 0 || exit.Cause != runner.Finished || !hasTitle {
		output := strings.TrimSpace(stderr.String() + stdout.String())
		return "", &result.Failure{Class: result.Other, Message: fmt.Sprintf("%s did not tell its version as %s does (%s): %.300s", commander.Where(), p.title(), exit.Status(), output)}
	}
	version, _, _ = strings.Cut(version, "\n")
	return strings.TrimSpace(version), nil
}

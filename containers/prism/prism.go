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

// title is the name of the product as it prints it.
func (p Product) title() string {
	if p == Games {
		return "PRISM-games"
	}
	return "PRISM"
}

// Tool is the product in an image that has prism on its PATH. Under a memory limit its
// arguments are led by those of Memory.
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

// Kind is how images of the product are found: there is no official one.
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

// Memory returns the switches that keep PRISM within limit bytes, apart from
// those that args have: the heap of its Java virtual machine, and the memory of
// CUDD, which is another. What remains is for the machine itself: its code,
// classes, stacks and buffers.
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

// has reports whether args have a switch, in either of PRISM's spellings.
func has(args []string, name string) bool {
	for _, a := range args {
		if strings.TrimPrefix(strings.TrimPrefix(a, "-"), "-") == name && a != name {
			return true
		}
	}
	return false
}

// Run starts a container of the product that is ready to check: see containers.Start,
// which says what opts may change. Whoever runs it terminates it.
func (p Product) Run(ctx context.Context, img string, opts ...testcontainers.ContainerCustomizer) (*containers.Container, error) {
	return containers.Run(ctx, p.Tool(), img, opts...)
}

// Version asks the product for its version, "4.10.2" for example. A program that is the other product is an error.
func (p Product) Version(ctx context.Context, c runner.Commander) (string, error) {
	var out, complaint bytes.Buffer
	exit, err := c.Run(ctx, runner.Command{Args: []string{"-version"}, Stdout: &out, Stderr: &complaint})
	if err != nil {
		return "", err
	}
	version, found := strings.CutPrefix(strings.TrimSpace(out.String()), p.title()+" version ")
	if exit.Code != 0 || exit.Cause != runner.Finished || !found {
		said := strings.TrimSpace(complaint.String() + out.String())
		return "", &result.Failure{Class: result.Other, Message: fmt.Sprintf("%s did not tell its version as %s does (exit status %d %s): %.300s", c.Where(), p.title(), exit.Code, exit.Cause, said)}
	}
	version, _, _ = strings.Cut(version, "\n")
	return strings.TrimSpace(version), nil
}

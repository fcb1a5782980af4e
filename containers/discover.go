package containers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/client"

	"tilecheck/internal/atomicfile"
	"tilecheck/runner"
)

// Kind describes how to find images that contain a tool.
type Kind struct {
	Tool Tool
	// Words are substrings of repository names; an image of a matching repository
	// may contain the tool.
	Words []string
	// Programs are possible names or paths of the tool, the most likely first.
	Programs []string
	// Official is the official image, which is trusted without a probe; empty if there is none.
	Official string
	// Version runs the tool and returns its version.
	Version func(ctx context.Context, c runner.Commander) (string, error)
}

// Found is an image that may contain a tool, and the result of the search in it.
type Found struct {
	Image   Image
	Program string // name or path of the tool; empty if there is none
	Version string // from the tool's output, or from the label of an image of ours
	Problem string // why the image cannot be used; empty if it can
}

// Tool returns the tool of a kind with the path of the program in this image.
func (f Found) Tool(k Kind) Tool {
	tool := k.Tool
	tool.Program = append([]string{f.Program}, tool.Program[1:]...)
	return tool
}

// Cache is the path of a file that keeps the results of probes by image ID, so
// that each image is probed once. An empty path keeps nothing.
type Cache string

type probeResult struct{ Program, Version, Problem string }

// cacheable reports whether another probe of the same image would give the same result, because the image alone determines it.
func (r probeResult) cacheable() bool {
	return r.Problem == "" || strings.Contains(r.Problem, "has no program") || strings.Contains(r.Problem, "did not tell its version")
}

// read returns the results in the file, by the names of tools and the IDs of images. It returns no results if it cannot read the file.
func (c Cache) read() map[string]probeResult {
	results := make(map[string]probeResult)
	if data, err := os.ReadFile(string(c)); c != "" && err == nil {
		_ = json.Unmarshal(data, &results) // write replaces a damaged file
	}
	return results
}

// write replaces the file by a file with these results.
func (c Cache) write(results map[string]probeResult) error {
	if c == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(string(c)), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(string(c), func(w io.Writer) error { return json.NewEncoder(w).Encode(results) })
}

// Discover returns the images on the machine that may contain a tool: images that this program made, the official image, and images whose repository
// name contains one of the words of the kind. Identify finds the program in each. Usable images come first. Among these the order is: images that
// this program made, the official image, others; newer ones before older ones.
func (d *Docker) Discover(ctx context.Context, kind Kind, cache Cache) ([]Found, error) {
	images, err := d.candidates(ctx, kind)
	if err != nil {
		return nil, err
	}
	var found []Found
	for _, image := range images {
		identified, err := d.Identify(ctx, kind, image, cache)
		if err != nil {
			return nil, err
		}
		found = append(found, identified)
	}
	slices.SortStableFunc(found, func(first, second Found) int {
		return cmp.Or(cmp.Compare(kind.rank(first), kind.rank(second)), second.Image.Created.Compare(first.Image.Created), cmp.Compare(first.Image.Ref, second.Image.Ref))
	})
	return found, nil
}

// rank returns the rank of an image in the list of Discover: 0 for images that this program made, 1 for the official image, 2 for other images, 3 for
// images with a problem.
func (k Kind) rank(found Found) int {
	switch {
	case found.Problem != "":
		return 3
	case found.Image.Tool != "":
		return 0
	case found.Image.Ref == k.Official:
		return 1
	}
	return 2
}

// candidates returns the images on the machine that may contain a tool.
func (d *Docker) candidates(ctx context.Context, kind Kind) ([]Image, error) {
	found, err := d.client.ImageList(ctx, client.ImageListOptions{})
	if err != nil {
		return nil, classify("list images", err)
	}
	var images []Image
	for _, item := range found.Items {
		label := item.Labels[LabelTool] // empty for images that another program made
		for _, ref := range item.RepoTags {
			mayHaveTool := label == "" && (ref == kind.Official || kind.matchesName(ref))
			if label != kind.Tool.Name && !mayHaveTool {
				continue
			}
			images = append(images, Image{
				Ref: ref, ID: item.ID, Digest: digest(item.RepoDigests), Tool: label, Version: item.Labels[LabelVersion],
				Size: item.Size, Created: time.Unix(item.Created, 0),
			})
		}
	}
	return images, nil
}

// matchesName reports whether the repository name of an image contains one of the words of the kind.
func (k Kind) matchesName(ref string) bool {
	repository, _, _ := strings.Cut(ref, "@")
	if colon := strings.LastIndex(repository, ":"); colon > strings.LastIndex(repository, "/") {
		repository = repository[:colon]
	}
	repository = strings.ToLower(repository)
	return slices.ContainsFunc(k.Words, func(word string) bool { return strings.Contains(repository, word) })
}

// Identify finds the program of a tool in an image, and its version. It trusts the labels of images that this program made, and the official image.
// It runs the program in other images, unless the cache has the result. A Found with a Problem is not an error.
func (d *Docker) Identify(ctx context.Context, kind Kind, image Image, cache Cache) (Found, error) {
	identified := Found{Image: image}
	if image.Tool == kind.Tool.Name || image.Ref == kind.Official {
		identified.Program, identified.Version = kind.Tool.Program[0], image.Version
		return identified, nil
	}
	cached := cache.read()
	key := kind.Tool.Name + " " + image.ID
	probed, ok := cached[key]
	if !ok {
		probed = d.probe(ctx, kind, image)
		if ctx.Err() != nil {
			return identified, ctx.Err()
		}
		cached[key] = probed
		if !probed.cacheable() {
			cache = "" // the engine may be the cause, not the image
		}
		if err := cache.write(cached); err != nil && !errors.Is(err, fs.ErrPermission) {
			return identified, err
		}
	}
	identified.Program, identified.Version, identified.Problem = probed.Program, probed.Version, probed.Problem
	return identified, nil
}

// Try runs the program that Identify found, also in images that Identify trusts. It returns the image with the version or a Problem. The error is
// that of the context.
func (d *Docker) Try(ctx context.Context, kind Kind, found Found) (Found, error) {
	kind.Programs = []string{found.Program}
	probed := d.probe(ctx, kind, found.Image)
	found.Version, found.Problem = probed.Version, probed.Problem
	return found, ctx.Err()
}

// probeLimit is the time limit for a tool to print its version.
const probeLimit = 30 * time.Second

// probe runs the possible programs of a tool in an image. It returns the first program that prints a version, or the problem if there is none.
func (d *Docker) probe(ctx context.Context, kind Kind, image Image) probeResult {
	problem := "it has none of " + strings.Join(kind.Programs, ", ")
	for _, program := range kind.Programs {
		tool := Found{Program: program}.Tool(kind)
		pool, err := NewPool(ctx, d, Options{Tool: tool, Image: image.ID})
		if err != nil {
			return probeResult{Problem: err.Error()}
		}
		limited, cancel := context.WithTimeout(ctx, probeLimit)
		version, err := kind.Version(limited, pool)
		cancel()
		_ = pool.Close() // what could not be removed is tried again by Docker.Close
		if err == nil {
			return probeResult{Program: program, Version: version}
		}
		if !path.IsAbs(program) || len(kind.Programs) == 1 {
			problem = err.Error()
		}
	}
	return probeResult{Problem: problem}
}

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
	t := k.Tool
	t.Program = append([]string{f.Program}, t.Program[1:]...)
	return t
}

// Cache is the path of a file that keeps the results of probes by image ID, so
// that each image is probed once. An empty path keeps nothing.
type Cache string

type probeResult struct{ Program, Version, Problem string }

// cacheable reports whether another probe of the same image would give the same result.
func (r probeResult) cacheable() bool {
	return r.Problem == "" || strings.Contains(r.Problem, "has no program") || strings.Contains(r.Problem, "did not tell its version")
}

func (m Cache) read() map[string]probeResult {
	out := make(map[string]probeResult)
	if data, err := os.ReadFile(string(m)); m != "" && err == nil {
		_ = json.Unmarshal(data, &out) // write replaces a damaged file
	}
	return out
}

func (m Cache) write(results map[string]probeResult) error {
	if m == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(string(m)), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(string(m), func(w io.Writer) error { return json.NewEncoder(w).Encode(results) })
}

// Discover lists the images on the machine that contain a tool: images that this
// program made, the official one, and images whose repository name has one of the
// words, which are probed once. Usable images come first. Among these the order is:
// ours, the official one, others; newer ones before older ones.
func (d *Docker) Discover(ctx context.Context, k Kind, memory Cache) ([]Found, error) {
	images, err := d.candidates(ctx, k)
	if err != nil {
		return nil, err
	}
	var out []Found
	for _, img := range images {
		f, err := d.Identify(ctx, k, img, memory)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b Found) int {
		return cmp.Or(cmp.Compare(k.rank(a), k.rank(b)), b.Image.Created.Compare(a.Image.Created), cmp.Compare(a.Image.Ref, b.Image.Ref))
	})
	return out, nil
}

// rank returns the place of an image in the list of Discover: first the images that this program made, then the
// official image, other images, and last the images with a problem.
func (k Kind) rank(image Found) int {
	switch {
	case image.Problem != "":
		return 3
	case image.Image.Tool != "":
		return 0
	case image.Image.Ref == k.Official:
		return 1
	}
	return 2
}

// candidates lists the images that may contain a tool.
func (d *Docker) candidates(ctx context.Context, k Kind) ([]Image, error) {
	found, err := d.client.ImageList(ctx, client.ImageListOptions{})
	if err != nil {
		return nil, classify("list images", err)
	}
	var images []Image
	for _, i := range found.Items {
		ours := i.Labels[LabelTool]
		for _, ref := range i.RepoTags {
			if ours != k.Tool.Name && (ours != "" || ref != k.Official && !k.matchesName(ref)) {
				continue
			}
			images = append(images, Image{
				Ref: ref, ID: i.ID, Digest: digest(i.RepoDigests), Tool: ours, Version: i.Labels[LabelVersion],
				Size: i.Size, Created: time.Unix(i.Created, 0),
			})
		}
	}
	return images, nil
}

// matchesName reports whether the name of an image contains a word of the tool.
func (k Kind) matchesName(ref string) bool {
	repository, _, _ := strings.Cut(ref, "@")
	if i := strings.LastIndex(repository, ":"); i > strings.LastIndex(repository, "/") {
		repository = repository[:i]
	}
	repository = strings.ToLower(repository)
	return slices.ContainsFunc(k.Words, func(w string) bool { return strings.Contains(repository, w) })
}

// Identify finds the tool's program in an image and its version. It trusts the
// labels of our images and the official image, and probes all others. A Found
// with a Problem is not an error.
func (d *Docker) Identify(ctx context.Context, k Kind, img Image, memory Cache) (Found, error) {
	found := Found{Image: img}
	if img.Tool == k.Tool.Name || img.Ref == k.Official {
		found.Program, found.Version = k.Tool.Program[0], img.Version
		return found, nil
	}
	cached := memory.read()
	key := k.Tool.Name + " " + img.ID
	answer, ok := cached[key]
	if !ok {
		answer = d.probe(ctx, k, img)
		if ctx.Err() != nil {
			return found, ctx.Err()
		}
		cached[key] = answer
		if !answer.cacheable() {
			memory = "" // the engine may be the cause, not the image
		}
		if err := memory.write(cached); err != nil && !errors.Is(err, fs.ErrPermission) {
			return found, err
		}
	}
	found.Program, found.Version, found.Problem = answer.Program, answer.Version, answer.Problem
	return found, nil
}

// Try runs the program that was found, also in images whose labels Identify
// trusts, and sets the version or a Problem. The error is the context's.
func (d *Docker) Try(ctx context.Context, k Kind, f Found) (Found, error) {
	k.Programs = []string{f.Program}
	probed := d.probe(ctx, k, f.Image)
	f.Version, f.Problem = probed.Version, probed.Problem
	return f, ctx.Err()
}

// probeLimit is the time limit for a tool to print its version.
const probeLimit = 30 * time.Second

// probe tries the possible programs in an image and returns the first that prints a version.
func (d *Docker) probe(ctx context.Context, k Kind, img Image) probeResult {
	problem := "it has none of " + strings.Join(k.Programs, ", ")
	for _, program := range k.Programs {
		tool := Found{Program: program}.Tool(k)
		pool, err := NewPool(ctx, d, Options{Tool: tool, Image: img.ID})
		if err != nil {
			return probeResult{Problem: err.Error()}
		}
		limited, cancel := context.WithTimeout(ctx, probeLimit)
		version, err := k.Version(limited, pool)
		cancel()
		_ = pool.Close() // what could not be removed is tried again by Docker.Close
		if err == nil {
			return probeResult{Program: program, Version: version}
		}
		if !path.IsAbs(program) || len(k.Programs) == 1 {
			problem = err.Error()
		}
	}
	return probeResult{Problem: problem}
}

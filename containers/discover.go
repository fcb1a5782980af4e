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

// Kind is how images that hold a tool are found.
type Kind struct {
	Tool Tool
	// Words are what the name of a repository has in it if its images may hold
	// the tool.
	Words []string
	// Programs are the names or paths that the tool may have there, the likeliest first.
	Programs []string
	// Official is the image that needs no question; empty if there is none.
	Official string
	// Version asks the tool for its version.
	Version func(ctx context.Context, c runner.Commander) (string, error)
}

// Found is an image that holds a tool, or was thought to.
type Found struct {
	Image   Image
	Program string // its name or path there; empty if there is none
	Version string // as it said itself, or as the label of our images does
	Problem string // why it is of no use; empty if it is
}

// Tool returns how the tool is run there.
func (f Found) Tool(k Kind) Tool {
	t := k.Tool
	t.Program = append([]string{f.Program}, t.Program[1:]...)
	return t
}

// Memory is a file in which the answers of images are kept by their IDs, so that
// each image is asked once. The empty one forgets.
type Memory string

type remembered struct{ Program, Version, Problem string }

// lasting reports whether the same image will answer the same another time.
func (r remembered) lasting() bool {
	return r.Problem == "" || strings.Contains(r.Problem, "has no program") || strings.Contains(r.Problem, "did not tell its version")
}

func (m Memory) read() map[string]remembered {
	out := make(map[string]remembered)
	if data, err := os.ReadFile(string(m)); m != "" && err == nil {
		_ = json.Unmarshal(data, &out) // a damaged file is written anew
	}
	return out
}

func (m Memory) write(known map[string]remembered) error {
	if m == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(string(m)), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(string(m), func(w io.Writer) error { return json.NewEncoder(w).Encode(known) })
}

// Discover lists the images on the machine that hold a tool: those that this
// program made, the official one, and those of other makers whose name has one
// of the words, which are asked for the version once. The best comes first: ours
// before the official one before others, a newer one before an older one, and
// last those that are of no use.
func (d *Docker) Discover(ctx context.Context, k Kind, memory Memory) ([]Found, error) {
	images, err := d.candidates(ctx, k)
	if err != nil {
		return nil, err
	}
	var out []Found
	for _, img := range images {
		f, err := d.Ask(ctx, k, img, memory)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	rank := func(f Found) int {
		switch {
		case f.Problem != "":
			return 3
		case f.Image.Tool != "":
			return 0
		case f.Image.Ref == k.Official:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(out, func(a, b Found) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), b.Image.Created.Compare(a.Image.Created), cmp.Compare(a.Image.Ref, b.Image.Ref))
	})
	return out, nil
}

// candidates lists the images that may hold a tool.
func (d *Docker) candidates(ctx context.Context, k Kind) ([]Image, error) {
	found, err := d.client.ImageList(ctx, client.ImageListOptions{})
	if err != nil {
		return nil, classify("list images", err)
	}
	var images []Image
	for _, i := range found.Items {
		ours := i.Labels[LabelTool]
		for _, ref := range i.RepoTags {
			if ours != k.Tool.Name && (ours != "" || ref != k.Official && !k.named(ref)) {
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

func (k Kind) named(ref string) bool {
	repository, _, _ := strings.Cut(ref, "@")
	if i := strings.LastIndex(repository, ":"); i > strings.LastIndex(repository, "/") {
		repository = repository[:i]
	}
	repository = strings.ToLower(repository)
	return slices.ContainsFunc(k.Words, func(w string) bool { return strings.Contains(repository, w) })
}

// Ask finds the program of a tool in an image, and its version. Our images and
// the official one are not asked. A Found with a Problem is no error.
func (d *Docker) Ask(ctx context.Context, k Kind, img Image, memory Memory) (Found, error) {
	f := Found{Image: img}
	if img.Tool == k.Tool.Name || img.Ref == k.Official {
		f.Program, f.Version = k.Tool.Program[0], img.Version
		return f, nil
	}
	known := memory.read()
	key := k.Tool.Name + " " + img.ID
	answer, ok := known[key]
	if !ok {
		answer = d.probe(ctx, k, img)
		if ctx.Err() != nil {
			return f, ctx.Err()
		}
		known[key] = answer
		if !answer.lasting() {
			memory = "" // the engine may have been at fault, not the image
		}
		if err := memory.write(known); err != nil && !errors.Is(err, fs.ErrPermission) {
			return f, err
		}
	}
	f.Program, f.Version, f.Problem = answer.Program, answer.Version, answer.Problem
	return f, nil
}

// Try runs the tool of an image where it was found, also in our images and the
// official one, whose labels Ask believes, and returns what it says: its version,
// or a Problem. The error is that of ctx.
func (d *Docker) Try(ctx context.Context, k Kind, f Found) (Found, error) {
	k.Programs = []string{f.Program}
	said := d.probe(ctx, k, f.Image)
	f.Version, f.Problem = said.Version, said.Problem
	return f, ctx.Err()
}

// probeLimit is how long a tool may take to say its version.
const probeLimit = 30 * time.Second

// probe runs the programs of an image that may be the tool.
func (d *Docker) probe(ctx context.Context, k Kind, img Image) remembered {
	problem := "it has none of " + strings.Join(k.Programs, ", ")
	for _, program := range k.Programs {
		tool := Found{Program: program}.Tool(k)
		pool, err := NewPool(ctx, d, Options{Tool: tool, Image: img.ID})
		if err != nil {
			return remembered{Problem: err.Error()}
		}
		limited, cancel := context.WithTimeout(ctx, probeLimit)
		version, err := k.Version(limited, pool)
		cancel()
		_ = pool.Close() // what could not be removed is tried again by Docker.Close
		if err == nil {
			return remembered{Program: program, Version: version}
		}
		if !path.IsAbs(program) || len(k.Programs) == 1 {
			problem = err.Error()
		}
	}
	return remembered{Problem: problem}
}

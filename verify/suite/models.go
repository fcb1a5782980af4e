package suite

import (
	"context"
	"io/fs"
	"path"
	"strings"
)

// ModelFiles are a model and the properties files that belong to it.
type ModelFiles struct {
	Model string
	Props []string
}

// Models lists the models of a directory and of all below it, each with the properties files that Closest pairs with it.
// It skips directories whose name begins with a dot. The order is that of Discover: subdirectories first.
func Models(ctx context.Context, fsys fs.FS, dir string) ([]ModelFiles, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	var out []ModelFiles
	d := &directory{fsys: fsys, dir: dir, pairing: Closest}
	var models [][]word
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case !entry.IsDir():
			d.files = append(d.files, name)
			if isModel(name) {
				models = append(models, []word{{text: name}})
			}
		case !strings.HasPrefix(name, "."):
			below, err := Models(ctx, fsys, path.Join(dir, name))
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
		}
	}
	for _, model := range models {
		paired := ModelFiles{Model: path.Join(dir, model[0].text)}
		for _, f := range d.files {
			if isProps(f) && d.isPaired(model[0].text, f, models) {
				paired.Props = append(paired.Props, path.Join(dir, f))
			}
		}
		out = append(out, paired)
	}
	return out, nil
}

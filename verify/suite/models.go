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

// Models lists the models of a directory and its subdirectories, each with its properties files. A model has the properties files that the
// pairing Closest selects. The models of subdirectories come first.
func Models(ctx context.Context, fileSystem fs.FS, dir string) ([]ModelFiles, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(fileSystem, dir)
	if err != nil {
		return nil, err
	}
	var models []ModelFiles
	current := &directory{fileSystem: fileSystem, dir: dir, pairing: Closest}
	for _, entry := range entries {
		if !entry.IsDir() {
			current.files = append(current.files, entry.Name())
			continue
		}
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		subdirectoryModels, err := Models(ctx, fileSystem, path.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		models = append(models, subdirectoryModels...)
	}
	return append(models, current.modelFiles()...), nil
}

// modelFiles returns the models of a directory, each with its properties files.
func (d *directory) modelFiles() []ModelFiles {
	var names [][]word
	for _, file := range d.files {
		if isModel(file) {
			names = append(names, []word{{text: file}})
		}
	}
	var models []ModelFiles
	for _, name := range names {
		model := ModelFiles{Model: path.Join(d.dir, name[0].text)}
		for _, file := range d.files {
			if isProps(file) && d.isPaired(name[0].text, file, names) {
				model.Props = append(model.Props, path.Join(d.dir, file))
			}
		}
		models = append(models, model)
	}
	return models
}

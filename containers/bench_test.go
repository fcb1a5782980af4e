package containers

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"tilecheck/runner"
)

// BenchmarkLatency compares ways to run a tool once that does next to nothing:
// what they take is what the way costs. docs/impl-containers.md has the numbers.
func BenchmarkLatency(b *testing.B) {
	l := newLab(b)
	model := runner.File{Name: "model.prism", Data: bytes.Repeat([]byte("x"), 10<<10)}
	cmd := command("play", model.Name, "write", "out.csv", "data")
	cmd.Files, cmd.Collect = []runner.File{model}, []string{"out.csv"}
	inPool := func(o Options) func(*testing.B) {
		return func(b *testing.B) {
			p := l.pool(b, o)
			if _, err := p.Run(b.Context(), cmd); err != nil { // starts the container
				b.Fatal(err)
			}
			for b.Loop() {
				if exit, err := p.Run(b.Context(), cmd); err != nil || len(exit.Files) != 1 {
					b.Fatal(exit, err)
				}
			}
		}
	}
	b.Run("direct", func(b *testing.B) { direct(b, cmd) })
	b.Run("warm", inPool(Options{}))
	b.Run("fresh", func(b *testing.B) { fresh(b, l, cmd) })
	b.Run("fresh-idle", inPool(Options{RunsPerContainer: 1}))
}

// direct runs the tool as a process of this machine.
func direct(b *testing.B, cmd runner.Command) {
	program := filepath.Join(b.TempDir(), "faketool")
	if out, err := exec.Command("go", "build", "-o", program, "tilecheck/containers/internal/faketool").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for b.Loop() {
		dir := b.TempDir()
		if err := os.WriteFile(filepath.Join(dir, cmd.Files[0].Name), cmd.Files[0].Data, 0o600); err != nil {
			b.Fatal(err)
		}
		c := exec.Command(program, cmd.Args...)
		c.Dir = dir
		if err := c.Run(); err != nil {
			b.Fatal(err)
		}
		if _, err := os.ReadFile(filepath.Join(dir, cmd.Collect[0])); err != nil {
			b.Fatal(err)
		}
	}
}

// fresh makes a container for a run whose first process is the tool, with as few
// questions to the engine as that takes.
func fresh(b *testing.B, l lab, cmd runner.Command) {
	for b.Loop() {
		req, err := containerRequest(fake(), Image{ID: l.image}, cmd.Limits, nil)
		if err != nil {
			b.Fatal(err)
		}
		config := &container.Config{Image: l.image, Entrypoint: fake().argv(cmd)}
		req.ConfigModifier(config)
		config.WorkingDir, config.OpenStdin = runDir(1), false
		host := &container.HostConfig{}
		req.HostConfigModifier(host)
		host.AutoRemove = false // its file is collected after it ended
		c, err := l.client.ContainerCreate(b.Context(), client.ContainerCreateOptions{Config: config, HostConfig: host})
		if err != nil {
			b.Fatal(err)
		}
		if err := l.once(b, c.ID, cmd); err != nil {
			b.Fatal(err)
		}
	}
}

func (l lab) once(b *testing.B, id string, cmd runner.Command) error {
	defer l.remove(b.Context(), id)
	files, err := archive("1", cmd.Files)
	if err != nil {
		return err
	}
	if _, err := l.client.CopyToContainer(b.Context(), id, client.CopyToContainerOptions{DestinationPath: workDir, Content: files}); err != nil {
		return err
	}
	attached, err := l.client.ContainerAttach(b.Context(), id, client.ContainerAttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return err
	}
	defer attached.Close()
	if _, err := l.client.ContainerStart(b.Context(), id, client.ContainerStartOptions{}); err != nil {
		return err
	}
	if err := demultiplex(io.Discard, io.Discard, attached.Reader); err != nil {
		return err
	}
	ended := l.client.ContainerWait(b.Context(), id, client.ContainerWaitOptions{})
	select {
	case <-ended.Result:
	case err := <-ended.Error:
		return err
	}
	_, err = l.read(b.Context(), id, runDir(1)+"/"+cmd.Collect[0])
	return err
}

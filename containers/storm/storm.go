package storm

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

// DefaultImage is the official image of the latest release.
//
// Source: storm-website, documentation/obtain-storm/docker.md.
const DefaultImage = "movesrwth/storm:stable"

// ObservatoryImage is built every day and holds Storm, PRISM and Modest.
//
// Source: github.com/pmc-tools/umb-observatory, Dockerfile and .docker/tools.toml.
const ObservatoryImage = "ghcr.io/pmc-tools/umb-observatory:main"

// Kind is how images of Storm are found.
func Kind() containers.Kind {
	return containers.Kind{
		Tool: Tool(), Words: []string{"storm", "umb-observatory"},
		Programs: []string{"storm", "/opt/storm/build/bin/storm"}, Official: DefaultImage, Version: Version,
	}
}

// Tool is Storm in an image that has storm on its PATH.
func Tool() containers.Tool {
	return containers.Tool{
		Name:    "storm",
		Program: []string{"storm"},
		Env:     map[string]string{"HOME": "/tmp"},
		Missing: func(image string) string {
			return fmt.Sprintf("get it with `docker pull %s`, or without a network carry it over with `docker save` and `docker load`", image)
		},
	}
}

// Run starts a container of Storm that is ready to check: see containers.Start,
// which says what opts may change. Whoever runs it terminates it.
func Run(ctx context.Context, img string, opts ...testcontainers.ContainerCustomizer) (*containers.Container, error) {
	return containers.Run(ctx, Tool(), img, opts...)
}

// Version asks Storm for the version in its banner, "1.12.0" for example.
func Version(ctx context.Context, c runner.Commander) (string, error) {
	var out, complaint bytes.Buffer
	exit, err := c.Run(ctx, runner.Command{Args: []string{"--version"}, Stdout: &out, Stderr: &complaint})
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out.String()) {
		if version, found := strings.CutPrefix(strings.TrimSpace(line), "Storm "); found && exit.Code == 0 {
			return strings.TrimPrefix(version, "version "), nil
		}
	}
	said := strings.TrimSpace(complaint.String() + out.String())
	return "", &result.Failure{Class: result.Other, Message: fmt.Sprintf("%s did not tell its version (exit status %d %s): %.300s", c.Where(), exit.Code, exit.Cause, said)}
}

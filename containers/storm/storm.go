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

// Kind returns how to find images of Storm.
func Kind() containers.Kind {
	return containers.Kind{
		Tool: Tool(), Words: []string{"storm", "umb-observatory"},
		Programs: []string{"storm", "/opt/storm/build/bin/storm"}, Official: DefaultImage, Version: Version,
	}
}

// Tool returns Storm as a tool in an image that has storm on its PATH.
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

// Run starts a container of Storm that is ready for checks. See containers.Docker.Start for the options. The caller must call Terminate.
func Run(ctx context.Context, image string, opts ...testcontainers.ContainerCustomizer) (*containers.Container, error) {
	return containers.Run(ctx, Tool(), image, opts...)
}

// Version runs Storm and returns the version in its banner, such as "1.12.0".
func Version(ctx context.Context, commander runner.Commander) (string, error) {
	var stdout, stderr bytes.Buffer
	exit, err := commander.Run(ctx, runner.Command{Args: []string{"--version"}, Stdout: &stdout, Stderr: &stderr})
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(stdout.String()) {
		if version, hasName := strings.CutPrefix(strings.TrimSpace(line), "Storm "); hasName && exit.Code == 0 {
			return strings.TrimPrefix(version, "version "), nil
		}
	}
	output := strings.TrimSpace(stderr.String() + stdout.String())
	return "", &result.Failure{Class: result.Other, Message: fmt.Sprintf("%s did not tell its version (%s): %.300s", commander.Where(), exit.Status(), output)}
}

//go:build !js

package native

import (
	"fmt"
	"slices"

	"tilecheck/prism/digital"
	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/runner"
)

// checkClocks returns an error if the job wants a certificate file or a scheduler of a timed automaton, and asks for zones or regions. Such a
// file describes the MDP of digital clocks, which the texts of the automaton and the property determine.
func (method *statesMethod) checkClocks(program *sema.Program) error {
	if method.clocks != runner.ClockZones && method.clocks != runner.ClockRegions {
		return nil
	}
	switch {
	case method.outputs.Certificate != nil:
		return unsupported(program, "found --clocks %s, want --clocks digital for a certificate file, or none", method.clocks)
	case method.export != nil:
		return unsupported(program, "found --clocks %s, want --clocks digital for the export of schedulers, or none", method.clocks)
	}
	return nil
}

// withProofs returns the space on which a property is checked. A certificate file is about one MDP. If an earlier property has put another MDP into the
// file, withProofs returns a copy of the space that computes no certificates.
func (states *timedStates) withProofs(space *timedSpace) *timedSpace {
	isAboutOtherModel := states.fileModel != nil && states.fileModel != space.model
	if states.method.outputs.Certificate == nil || !isAboutOtherModel {
		return space
	}
	result := *space
	result.model = states.method.withoutProofs().newExploredModel(space.model.space, nil)
	return &result
}

// withOutputs returns the verdict with warnings about its certificate and its scheduler. The MDP of the first accepted claim becomes the MDP of the
// certificate file; properties that need another MDP get a warning.
func (states *timedStates) withOutputs(verdict result.Verdict, space *timedSpace, translated *digital.Model) result.Verdict {
	if verdict.Err != nil {
		return verdict
	}
	if states.method.outputs.Certificate != nil {
		if states.fileModel != nil && states.fileModel != space.model {
			return notProven(verdict, "the property needs another MDP of clocks than an earlier property, and a certificate file has one, want --select")
		}
		if proofs := space.model.proofs; proofs != nil && len(proofs.claims) > 0 {
			states.fileModel = space.model
		}
	}
	if states.method.export != nil {
		action, step := translated.TimeStep()
		verdict.Warnings = append(slices.Clip(verdict.Warnings), fmt.Sprintf("the scheduler is one of the MDP of digital clocks: the action %q lets the time %d pass, in which a clock counts 1", action, step))
	}
	return verdict
}

// acceptedProofs returns the certificates for the certificate file, or nil if no claim was accepted. The file gets no labels, because a label that the
// property does not use can hold in other states of the MDP than of the automaton.
func (states *timedStates) acceptedProofs() *certificates {
	if states == nil || states.fileModel == nil {
		return nil
	}
	proofs := states.fileModel.proofs
	program := *states.fileModel.space.Program()
	program.Labels = nil
	proofs.labels = &program
	return proofs
}

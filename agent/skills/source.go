package skills

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"deskhand/agent"
)

// Name is the namespace of the tools: their qualified names begin with it.
const Name = "skills"

// Source offers the skills of one folder. It is safe for concurrent use and
// holds nothing but the folder's path.
type Source struct {
	dir string
	// err says why dir is no path that could be used.
	err error
}

var _ agent.Source = (*Source)(nil)

// New makes a source of the skills in dir. It reads nothing: a folder that is
// not there is noticed by [Source.Tools]. A relative dir is meant from the
// folder that the program is in now.
func New(dir string) *Source {
	if dir == "" {
		return &Source{err: errors.New("no folder for skills is named")}
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return &Source{dir: dir, err: fmt.Errorf("the folder %s has no full path: %w", dir, err)}
	}
	return &Source{dir: path}
}

// Name implements [agent.Source].
func (s *Source) Name() string { return Name }

// Tools gives the two tools. They are the same whatever the folder holds, so
// that a new skill changes no definition. It fails if the folder cannot be read
// now.
func (s *Source) Tools(ctx context.Context) (agent.ToolList, error) {
	if err := ctx.Err(); err != nil {
		return agent.ToolList{}, err
	}
	f, err := s.open()
	if err != nil {
		return agent.ToolList{}, err
	}
	defer f.close()
	list := agent.ToolList{Identity: "skills:" + s.dir}
	for _, t := range tools {
		list.Tools = append(list.Tools, t.definition())
	}
	return list, nil
}

// Call lists or reads. The tool's own refusals are results with IsError and
// structured content {"error": {code, message, candidates, retry}}.
func (s *Source) Call(ctx context.Context, r agent.CallRequest) (agent.Result, error) {
	t, ok := toolNamed(r.Tool)
	if !ok {
		return agent.Result{}, s.failed(agent.OutcomeAnswered, fmt.Errorf("there is no tool %q", clip(r.Tool)))
	}
	if err := ctx.Err(); err != nil {
		return agent.Result{}, s.failed(agent.OutcomeNotSent, err)
	}
	f, err := s.open()
	if err != nil {
		return agent.Result{}, s.failed(agent.OutcomeNotSent, err)
	}
	defer f.close()
	a, err := t.run(ctx, f, r.Arguments)
	if err == nil {
		return a.result(), nil
	}
	var no *refusal
	switch {
	case !errors.As(err, &no):
		// Reading has no effect: what was cut short did not happen.
		return agent.Result{}, s.failed(agent.OutcomeNotSent, err)
	case no.Code == codeUnknownSkill && r.Approval != "":
		// A person approved this very skill. It can be put back, so the call is
		// kept for them instead of telling the model that there never was one.
		return agent.Result{}, s.failed(agent.OutcomeNotSent, no)
	}
	return no.result(), nil
}

func (s *Source) failed(outcome agent.Outcome, err error) error {
	return &agent.CallError{Outcome: outcome, Server: Name, Err: err}
}

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
)

// predicate is a compiled "when". Its error means that it could not decide.
type predicate func(PolicyInput) (bool, error)

// What one evaluation may cost: rules are a few comparisons, so these are
// generous, and they end a rule that loops over a hostile argument.
const (
	predicateCost = 100_000
	predicateTime = 100 * time.Millisecond
)

// compilePredicate compiles a CEL expression that must give a bool. Its errors
// hold the position of the fault.
func compilePredicate(expression string) (predicate, error) {
	env, err := cel.NewEnv(
		cel.Variable("args", cel.DynType),
		cel.Variable("preview", cel.DynType),
		cel.Variable("tool", cel.StringType),
		cel.Variable("server", cel.StringType),
		cel.Variable("call", cel.StringType),
		cel.Variable("conversation", cel.ListType(cel.StringType)),
	)
	if err != nil {
		return nil, fmt.Errorf("preparing rules: %w", err)
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return nil, errors.New(faults(issues))
	}
	if ast.OutputType() != cel.BoolType && ast.OutputType() != cel.DynType {
		return nil, fmt.Errorf("gives %s, not true or false", ast.OutputType())
	}
	program, err := env.Program(ast, cel.CostLimit(predicateCost), cel.InterruptCheckFrequency(100))
	if err != nil {
		return nil, fmt.Errorf("preparing a rule: %w", err)
	}
	return func(in PolicyInput) (bool, error) { return evaluate(program, in) }, nil
}

// faults words what is wrong with an expression, with line and column of each
// fault, in one line.
func faults(issues *cel.Issues) string {
	var parts []string
	for _, fault := range issues.Errors() {
		parts = append(parts, fmt.Sprintf("%d:%d: %s", fault.Location.Line(), fault.Location.Column()+1, oneLine(fault.Message)))
	}
	return strings.Join(parts, "; ")
}

func evaluate(program cel.Program, in PolicyInput) (bool, error) {
	var args map[string]any
	if err := json.Unmarshal(in.Args, &args); err != nil {
		return false, fmt.Errorf("arguments cannot be read: %w", err)
	}
	variables := map[string]any{
		"args":         args,
		"tool":         in.Tool.Tool(),
		"server":       in.Tool.Server(),
		"call":         string(in.Call),
		"conversation": in.Conversation,
	}
	if in.Preview != nil { // left out, it makes a rule about it fail, which asks
		var preview any
		if err := json.Unmarshal(in.Preview, &preview); err != nil {
			return false, fmt.Errorf("the preview cannot be read: %w", err)
		}
		variables["preview"] = preview
	}
	ctx, cancel := context.WithTimeout(context.Background(), predicateTime)
	defer cancel()
	value, _, err := program.ContextEval(ctx, variables)
	if err != nil {
		return false, err
	}
	decided, ok := value.Value().(bool)
	if !ok {
		return false, fmt.Errorf("gave %v, not true or false", value.Type())
	}
	return decided, nil
}

// oneLine folds a text of several lines, so that an error stays one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

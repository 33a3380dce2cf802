package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
)

// keptDefinitions remembers which definitions are in the store already, so that
// each is written once. The zero value is ready.
type keptDefinitions struct {
	mu      sync.Mutex
	hashes  map[string]bool
	aliases map[ConversationID]map[QualifiedName]string
}

// toolbox asks every source for its tools at once. Of a source that cannot be
// reached, the last known tools stand in, so that aliases stay and past calls
// can be described.
func (e *Engine) toolbox(ctx context.Context, id ConversationID) (*Toolbox, error) {
	servers := make([]ServerTools, len(e.sources))
	var wait sync.WaitGroup
	for i, source := range e.sources {
		wait.Go(func() {
			list, err := source.Tools(ctx)
			servers[i] = ServerTools{Name: source.Name(), List: list, Down: err}
		})
	}
	wait.Wait()
	if err := e.lastKnown(ctx, servers); err != nil {
		return nil, err
	}
	known, err := e.aliases(ctx, id)
	if err != nil {
		return nil, err
	}
	box := NewToolbox(servers, known)
	return box, e.keepAliases(ctx, id, known, box.Aliases())
}

// lastKnown keeps the lists of servers that answered and fills in those of
// servers that did not.
func (e *Engine) lastKnown(ctx context.Context, servers []ServerTools) error {
	for i := range servers {
		s := &servers[i]
		setting := "tools/" + s.Name
		if s.Down != nil {
			if err := e.store.Setting(ctx, setting, &s.List); err != nil && !errors.Is(err, ErrNotFound) {
				return fmt.Errorf("reading the last known tools of %s: %w", s.Name, err)
			}
			continue
		}
		hash := string(mustJSON(s.List))
		if e.kept.known(setting + hash) {
			continue
		}
		err := e.store.Update(ctx, func(tx Tx) error { return tx.PutSetting(setting, s.List) })
		if err != nil {
			return fmt.Errorf("keeping the tools of %s: %w", s.Name, err)
		}
		e.kept.add(setting + hash)
	}
	return nil
}

func (e *Engine) aliases(ctx context.Context, id ConversationID) (map[QualifiedName]string, error) {
	e.kept.mu.Lock()
	known, ok := e.kept.aliases[id]
	e.kept.mu.Unlock()
	if ok {
		return known, nil
	}
	known = map[QualifiedName]string{}
	if err := e.store.Setting(ctx, "aliases/"+string(id), &known); err != nil && !errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("reading the names of tools: %w", err)
	}
	return known, nil
}

// keepAliases stores the conversation's aliases when a newcomer got one. What
// was once used stays, also for a tool that is gone.
func (e *Engine) keepAliases(ctx context.Context, id ConversationID, known, now map[QualifiedName]string) error {
	merged := maps.Clone(known)
	maps.Copy(merged, now)
	if id == "" {
		return nil // nobody uses them yet
	}
	if !maps.Equal(merged, known) {
		err := e.store.Update(ctx, func(tx Tx) error { return tx.PutSetting("aliases/"+string(id), merged) })
		if err != nil {
			return fmt.Errorf("keeping the names of tools: %w", err)
		}
	}
	e.kept.mu.Lock()
	defer e.kept.mu.Unlock()
	if e.kept.aliases == nil || len(e.kept.aliases) > 1000 { // a bound, not a policy: a miss only costs a read
		e.kept.aliases = map[ConversationID]map[QualifiedName]string{}
	}
	e.kept.aliases[id] = merged
	return nil
}

func (k *keptDefinitions) known(hash string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.hashes[hash]
}

func (k *keptDefinitions) add(hash string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.hashes == nil {
		k.hashes = map[string]bool{}
	}
	k.hashes[hash] = true
}

// maxNewDefinitions is how many definitions may go into the commit of a reply:
// a full one has hardly room for more keys.
const maxNewDefinitions = 4

// keepDefinitions writes the definitions of a reply that brings many new ones,
// before the reply. They are named by their content, so that those of a reply
// which is then lost do no harm.
func (e *Engine) keepDefinitions(ctx context.Context, proposals []proposal) error {
	fresh := map[string]Entry{}
	for _, p := range proposals {
		if p.entry.Definition != "" && !e.kept.known(p.entry.Definition) {
			fresh[p.entry.Definition] = p.entry
		}
	}
	if len(fresh) <= maxNewDefinitions {
		return nil
	}
	for hash, entry := range fresh {
		if err := e.store.Update(ctx, func(tx Tx) error { return e.keepDefinition(tx, entry) }); err != nil {
			return fmt.Errorf("keeping the definition of %s: %w", entry.Name, err)
		}
		e.kept.add(hash)
	}
	return nil
}

// keepDefinition writes the definition of a proposed call.
func (e *Engine) keepDefinition(tx Tx, entry Entry) error {
	if entry.Definition == "" || e.kept.known(entry.Definition) {
		return nil
	}
	return tx.PutDefinition(entry.Definition, entry.Tool)
}

func (e *Engine) definitionsKept(proposals []proposal) {
	for _, p := range proposals {
		if p.entry.Definition != "" {
			e.kept.add(p.entry.Definition)
		}
	}
}

// source finds a configured server by its name.
func (e *Engine) source(name string) Source {
	for _, s := range e.sources {
		if s.Name() == name {
			return s
		}
	}
	return nil
}

// Tools gives what a new conversation would offer to the model.
func (e *Engine) Tools(ctx context.Context) (*Toolbox, error) {
	return e.toolbox(ctx, "")
}

// DefaultVerdict is what policy says of a tool when no rule looks at its
// arguments, for people who want to see how the desk is set up.
func (e *Engine) DefaultVerdict(entry Entry) DecisionKind {
	if e.policy.free[entry.Name] && !entry.Tool.Desk.Spends {
		return DecisionRun
	}
	return DecisionAsk
}

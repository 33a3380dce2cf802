package agent

import "context"

type userKey struct{}

// As gives a context in which the verbs act in the name of user, and not of the
// one of the engine's configuration: a surface that serves several people at
// once names the person of each request.
func As(ctx context.Context, user User) context.Context {
	return context.WithValue(ctx, userKey{}, user)
}

// userIn is the person in whose name a verb acts.
func (e *Engine) userIn(ctx context.Context) User {
	if user, ok := ctx.Value(userKey{}).(User); ok {
		return user
	}
	return e.user()
}

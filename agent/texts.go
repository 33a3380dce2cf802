package agent

// OnError says what the failure of a tool does to its turn.
type OnError string

// The ways to take a failure.
const (
	// OnErrorModel hands the failure to the model, which may try otherwise.
	OnErrorModel OnError = "model"
	// OnErrorStall stops the turn until a person goes on.
	OnErrorStall OnError = "stall"
)

// Texts are the sentences that a model hears of outcomes which the engine
// states itself. A reason or note is added to them word for word.
type Texts struct {
	// DeniedSpending is for tools that spend money, Denied for all others.
	Denied         string `json:"denied,omitempty"`
	DeniedSpending string `json:"deniedSpending,omitempty"`
	Expired        string `json:"expired,omitempty"`
	Cancelled      string `json:"cancelled,omitempty"`
	Unknown        string `json:"unknown,omitempty"`
	// Happened and DidNotHappen are what a person settled.
	Happened     string `json:"happened,omitempty"`
	DidNotHappen string `json:"didNotHappen,omitempty"`
}

// orDefault fills in what is empty.
func (t Texts) orDefault() Texts {
	set := func(text *string, otherwise string) {
		if *text == "" {
			*text = otherwise
		}
	}
	set(&t.Denied, "Declined by the dispatcher. Nothing was changed.")
	set(&t.DeniedSpending, "Declined by the dispatcher. Nothing was ordered.")
	set(&t.Expired, "Nobody decided in time, so this was not done.")
	set(&t.Cancelled, "The dispatcher stopped this before it was done. Nothing was sent.")
	set(&t.Unknown, "The outcome of this call is not known. It may have happened.")
	set(&t.Happened, "A person confirmed that this happened; the server's own answer is not known.")
	set(&t.DidNotHappen, "A person confirmed that this did not happen. Nothing was done by this call.")
	return t
}

// denied is what the model hears of a denial: a plain sentence, and no error,
// because models try errors again.
func (t Texts) denied(spends bool, reason string) string {
	text := t.Denied
	if spends {
		text = t.DeniedSpending
	}
	if reason != "" {
		text += " Reason: " + reason
	}
	return text
}

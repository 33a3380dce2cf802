package console

import (
	"deskhand/agent"
)

// Facts that commands bring back. Nothing else changes the model: goroutines
// never touch it.
type (
	// changedMsg: something changed; what, is in the store.
	changedMsg struct{}

	// loadedMsg is what the store said about a conversation at one moment.
	loadedMsg struct {
		conversation agent.ConversationID
		head         *agent.Head
		aborted      bool
		entries      []agent.TranscriptEntry
		live         string
		progress     map[agent.CallID]agent.Progress
		waiting      []agent.ApprovalReport
		err          error
	}

	// olderLoadedMsg brings messages from before what is there.
	olderLoadedMsg struct {
		conversation agent.ConversationID
		entries      []agent.TranscriptEntry
		err          error
	}

	// openedMsg is the first word about a conversation that was opened.
	openedMsg struct {
		loadedMsg
		draft string
		// focus is a card to enter; empty for none.
		focus agent.CallID
	}

	// sentMsg: a message was kept and its turn paused or ended, or an error says
	// why not.
	sentMsg struct {
		conversation agent.ConversationID
		text         string
		// kept says that the message is in the store, whatever the error.
		kept bool
		err  error
	}

	// keyStoodAloneMsg: no other key came right after one that may decide,
	// unless there were more presses since.
	keyStoodAloneMsg struct {
		key      string
		card     agent.CallID
		approval agent.ApprovalID
		presses  int
	}

	// decidedMsg: a verb on a card came back.
	decidedMsg struct {
		key string
		err error
	}

	// verbDoneMsg: another verb (abort, continue, start) came back.
	verbDoneMsg struct {
		what string
		err  error
	}

	// unqueuedMsg: messages came back from the queue.
	unqueuedMsg struct {
		conversation agent.ConversationID
		text         string
		err          error
	}

	// listedMsg brings the conversations for the list.
	listedMsg struct {
		heads []agent.Head
		err   error
	}

	// foundMsg brings what a search found.
	foundMsg struct {
		words string
		hits  []hit
		more  bool
		err   error
	}

	// auditedMsg brings the history of a card whose details are shown.
	auditedMsg struct {
		panel *panel
		lines []agent.AuditLine
		err   error
	}

	// toldMsg is a sentence that a command brought back; grave if it failed.
	toldMsg struct {
		text  string
		grave bool
	}

	// editedMsg brings the composer's text back from an editor.
	editedMsg struct {
		conversation agent.ConversationID
		text         string
		err          error
	}

	draftDueMsg   struct{}
	draftSavedMsg struct{ err error }
	tickedMsg     struct{ generation int }
	startedMsg    struct{ err error }
	// leaveMsg: a signal, or the terminal is gone.
	leaveMsg struct{}
)

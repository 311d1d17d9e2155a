import Synchronization

/// The sequence numbers of all keys of sealed datagrams, as long as the process lasts; those of a store last longer.
///
/// Sources and lanes share it: what has come by one of them is none that may come by another. For any thread.
package final class SequenceBook: Sendable {
    /// The numbers of one key.
    package final class Page: Sendable {
        fileprivate struct State {
            var window: SequenceWindow
            /// Whether it has changed since ``SequenceBook/takeChanges()``.
            var isChanged = false
        }

        /// Whose they are.
        package let key: KeyPrint
        fileprivate let state: Mutex<State>
        private let changes: Changes

        fileprivate init(_ key: KeyPrint, _ window: SequenceWindow, _ changes: Changes) {
            (self.key, self.changes) = (key, changes)
            state = Mutex(State(window: window))
        }

        /// What would become of `number`.
        package func verdict(_ number: UInt64) -> SequenceWindow.Verdict {
            state.withLock { $0.window.verdict(number) }
        }

        /// Notes `number`, of a datagram that is authentic, if it has not come before.
        package func take(_ number: UInt64) -> SequenceWindow.Verdict {
            state.withLock { state in
                let verdict = state.window.take(number)
                guard case .new = verdict, !state.isChanged else { return verdict }
                state.isChanged = true
                // Under the lock: whoever takes another number of the key finds it noted already.
                changes.pages.withLock { $0.append(self) }
                return verdict
            }
        }
    }

    /// Pages that have changed.
    fileprivate final class Changes: Sendable {
        let pages = Mutex<[Page]>([])
    }

    /// Of pipelines without a store.
    package static let ofProcess = SequenceBook()

    private let pages = Mutex<[KeyPrint: Page]>([:])
    private let changes = Changes()

    /// No number of any key.
    package init() {}

    /// Takes what an earlier run has kept.
    package func restore(_ windows: [KeyPrint: SequenceWindow]) {
        pages.withLock { pages in
            for (key, window) in windows { pages[key] = Page(key, window, changes) }
        }
    }

    /// The numbers of `key`.
    package func page(of key: KeyPrint) -> Page {
        pages.withLock { pages in
            if let page = pages[key] { return page }
            let page = Page(key, SequenceWindow(), changes)
            pages[key] = page
            return page
        }
    }

    /// Those that have changed since the last call.
    package func takeChanges() -> [KeyPrint: SequenceWindow] {
        let pages = changes.pages.withLock { pages in
            defer { pages = [] }
            return pages
        }
        var windows: [KeyPrint: SequenceWindow] = [:]
        for page in pages {
            windows[page.key] = page.state.withLock { state in
                state.isChanged = false
                return state.window
            }
        }
        return windows
    }
}

/// Decides on resources behind the rules: what a program that embeds the engine has in their place. For any thread.
package protocol EntryInterceptor: AnyObject, Sendable {
    /// Its name in counters.
    var name: String { get }

    /// What it may add, ``EntryRuleDecider/most`` at most.
    var patches: [EntryPatch] { get }

    /// Whether no sink gets `resource`, in JSON with references by identifier; valid during the call.
    func vetoes(_ resource: ByteView) -> Bool

    /// Whether servers that delete what was an error keep `resource`, with that status; valid during the call.
    func keeps(_ resource: ByteView) -> Bool

    /// Which of ``patches`` the resource gets, by their places, as bits; nil when it names one that there is not.
    func patches(for resource: ByteView) -> UInt64?
}

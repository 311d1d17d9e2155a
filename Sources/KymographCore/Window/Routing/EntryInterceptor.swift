/// Decides on resources behind the rules: what a program that embeds the engine has in their place. For any thread.
package protocol EntryInterceptor: AnyObject, Sendable {
    /// Its name in counters.
    var name: String { get }

    /// Whether no sink gets `resource`, in JSON with references by identifier; valid during the call.
    func vetoes(_ resource: ByteView) -> Bool
}

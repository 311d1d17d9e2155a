/// A Reference somewhere in a resource, and what it names.
struct EntryReference {
    /// The whole Reference.
    let slice: JSONSlice
    /// What it names.
    let target: ServerIdentifier

    /// Its members besides those that name the target.
    var others: [JSONSlice.Member] {
        (slice.members ?? []).filter { !["reference", "type", "identifier"].contains($0.name) }
    }
}

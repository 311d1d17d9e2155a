import Kymograph

/// Keeps the newest version of each resource: the same one may come again, and replaces what it was.
actor Chart {
    private(set) var resources: [ResourceEntry.Identifier: ResourceEntry] = [:]

    func store(_ entries: [ResourceEntry]) {
        for entry in entries { resources[entry.identifier] = entry }
    }
}

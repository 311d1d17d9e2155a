/// What somebody does with data of patients, or is refused: the kinds of records in the audit trail, and of entries of
/// the log that are for it.
package enum DeedKind: String, CaseIterable, Sendable {
    /// `kymo query`.
    case query
    /// `kymo export`.
    case export
    /// `kymo ledger`.
    case ledger
    /// `kymo decrypt`.
    case decrypt
    /// `kymo keys`.
    case keys
    /// `kymo dead list` and `kymo dead show`.
    case deadShow = "dead.show"
    case deadReplay = "dead.replay"
    case deadDiscard = "dead.discard"
    /// `kymo sources list`, which names devices.
    case sourcesList = "sources.list"
    case sourcesRemove = "sources.remove"
    case pause
    case resume
    /// `kymo reset`: the store is moved away or deleted.
    case reset
    /// What a client of the search gets.
    case search
    /// `kymo tap --reveal`.
    case tapReveal = "tap.reveal"
    /// A code for a login.
    case consoleCode = "console.code"
    case consoleLogin = "console.login"
    /// A login with a wrong code.
    case consoleRefused = "console.refused"
    case consoleReveal = "console.reveal"
    case consoleReplay = "console.replay"
    case consoleDiscard = "console.discard"
    /// A mapping that is saved, by the digests of its files.
    case consoleSave = "console.save"
    /// The mappings that an instance begins with, by the digests of their files.
    case mappingsBegin = "mappings.begin"
    /// Mappings of other content than before.
    case mappingsChanged = "mappings.changed"
    /// The patient map, the rules, a list of peers or keys by which they are known, that an instance begins with.
    case patientsBegin = "patients.begin"
    case rulesBegin = "rules.begin"
    case peersBegin = "peers.begin"
    /// Settings that are taken over while an instance runs.
    case settingsChanged = "settings.changed"
    /// A patient map that is read again.
    case patientsLoaded = "patients.loaded"
    /// The same, with which readings of before would have been filed otherwise.
    case patientsChanged = "patients.changed"
    /// Rules that are read again.
    case rulesLoaded = "rules.loaded"
    /// A list of peers, or keys by which they are known, that were read again.
    case peersLoaded = "peers.loaded"
    /// What a peer may not bring, or somebody who is none.
    case peerRefused = "peer.refused"
    /// A client that has not shown who it is.
    case clientRefused = "client.refused"
    /// Records that the trail itself has lost.
    case auditLost = "audit.lost"
}

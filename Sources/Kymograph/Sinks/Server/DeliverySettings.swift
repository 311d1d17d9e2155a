package import KymographCore

/// How one FHIR server is delivered to.
package struct DeliverySettings: Sendable {
    /// Base URL of the server, without a slash at its end.
    package var base: String
    /// Where Patients and Devices come from. There is no default.
    package var identity: ResourceIdentityMode
    /// The version of FHIR that the rows are written in.
    package var version = FHIRVersion.r4
    /// With ``Compatibility/iomtFHIR``, Patients and Devices are made and Observations merged on the server as the
    /// reference system does.
    package var compatibility = Compatibility.none
    /// Most entries of a bundle, Patients and Devices included.
    package var maxEntries = 100
    /// Most bytes of a bundle of more than one Observation.
    package var maxBytes = 1 << 20
    /// Most requests under way at once.
    package var maxConcurrency = 8
    /// Bytes of rows that are held in memory, about.
    package var rowBytes = 16 << 20
    /// Longest time of one request, in milliseconds.
    package var timeout = 30_000
    /// Bound of the wait after a first failure, in nanoseconds.
    package var firstBackoff: Int64 = 500_000_000
    /// Largest bound of a wait after failures, in nanoseconds.
    package var longestBackoff: Int64 = 60 * 1_000_000_000
    /// Longest wait that a server may ask for, in nanoseconds.
    package var longestRetryAfter: Int64 = 600 * 1_000_000_000
    /// How long an answer about a Device, Patient or Encounter is used before it is asked for again, in nanoseconds.
    package var identityMaxAge: Int64 = 600 * 1_000_000_000
    /// Whether a search shows, before a bundle brings a Patient or Device, that the server takes no other one for it.
    var checksIdentifiers = true
    /// Whether the server makes resources under ids that it is given; nil: as it states of each type.
    package var updateCreate: Bool?
    /// Whether Observations that were an error are deleted.
    package var deletesEmptied = false
    /// Most letters of Patients and Devices that the server refuses: those of readings must not be pushed out by more.
    var mostRefusedResources = 20_000
    /// Whether receipts say what entries are about.
    package var keepsSubjects = false
    /// Identifier systems of what resources refer to.
    package var systems = ReferenceSystems()

    /// The defaults for a server.
    package init(base: String, identity: ResourceIdentityMode) {
        var base = base
        while base.hasSuffix("/") { base.removeLast() }
        self.base = base
        self.identity = identity
    }

    /// Where bundles are posted to: the base, which needs a path.
    var bundleURL: String {
        let hasPath = base.split(separator: "/", omittingEmptySubsequences: false).count > 3
        return hasPath ? base : base + "/"
    }

    /// Whether ids are asked for before anything is sent.
    var resolvesIdentity: Bool { identity != .create || compatibility == .iomtFHIR }
}

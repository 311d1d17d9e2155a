/// How entries are put together: as bundles of a type, whose entries a server is asked to store in one of several ways,
/// or as lines of NDJSON.
package struct BundleForm: Hashable, Sendable, BitwiseCopyable {
    /// Bundles or lines.
    package var format: ObservationOptions.Format
    /// The type of bundles.
    package var type: ObservationOptions.BundleType
    /// How a server is asked to store resources.
    package var write: ObservationOptions.Write
    /// Whether References by identifier state the type of what they name, as they do in all versions but STU3.
    package var hasReferenceType: Bool

    /// The form of these options.
    package init(
        format: ObservationOptions.Format = .bundle, type: ObservationOptions.BundleType = .transaction,
        write: ObservationOptions.Write = .putByID, hasReferenceType: Bool = true
    ) {
        self.format = format
        self.type = type
        self.write = write
        self.hasReferenceType = hasReferenceType
    }

    /// Whether resources carry an id of ours.
    var writesID: Bool { format == .ndjson || type == .collection || write == .putByID }
    /// Whether described Devices carry an id of ours: not where a server may have given them one before.
    var writesDeviceID: Bool { format == .ndjson || type == .collection }
    /// Whether resources refer to entries of their own bundle.
    package var refersToEntries: Bool { format == .bundle && type != .batch }

    /// How a panel refers to its members.
    package enum MemberReferences: Sendable {
        /// By the `fullUrl` of its entry, where it has no id yet, or none that a server gave it.
        case byEntry
        /// By the id that it is put under.
        case byID
        /// By identifier, where there are no entries, or they may not refer to each other.
        case byIdentifier
    }

    /// How panels refer to their members.
    package var memberReferences: MemberReferences {
        guard refersToEntries else { return .byIdentifier }
        return type == .transaction && write == .putByID ? .byID : .byEntry
    }

    /// Whether resources of `kind` carry an id of ours.
    package func hasID(_ kind: EntryKind) -> Bool { kind == .describedDevice ? writesDeviceID : writesID }

    /// Whether the bundle's entry of a resource of `kind`, a panel or its member if `isJoined`, has a `fullUrl`.
    func writesFullURL(of kind: EntryKind, isJoined: Bool) -> Bool {
        switch kind {
        case .patient, .device, .gateway, .describedDevice: refersToEntries
        case .resource: type == .collection
        case .event: false
        case .observation: type == .collection || isJoined && memberReferences == .byEntry
        }
    }
}

extension ObservationOptions {
    /// How entries are put together.
    package var form: BundleForm {
        BundleForm(format: format, type: bundleType, write: write, hasReferenceType: version.hasReferenceType)
    }
}

/// How large the bundles of files are.
package struct BundleLimits: Hashable, Sendable {
    /// Most entries of a bundle, Patients and Devices included, or most lines of NDJSON.
    package var entries: Int
    /// Most bytes of a bundle that has more than one Observation.
    package var bytes: Int

    /// The limits.
    package init(entries: Int = 100, bytes: Int = 1 << 20) { (self.entries, self.bytes) = (entries, bytes) }
}

/// How Observations and bundles are written and what identifier systems they use.
package struct ObservationOptions: Sendable {
    /// The type of bundles.
    package enum BundleType: String, Sendable, CaseIterable, BitwiseCopyable {
        /// All or nothing; Observations refer to the Patient and Device entries of their bundle.
        case transaction
        /// Entry by entry; Observations refer to Patient and Device by identifier (entries of a batch may not refer to
        /// each other).
        case batch
        /// A container that no server is to process: entries have a `fullUrl` each, and no request.
        case collection
    }

    /// How a server is asked to store an Observation.
    package enum Write: String, Sendable, CaseIterable, BitwiseCopyable {
        /// `PUT Observation/<id>` with an id made of the identity: sending again replaces, so late data arrive.
        case putByID
        /// `POST` with `ifNoneExist` on the identifier: the first write wins, later ones are ignored.
        case conditionalCreate
        /// `PUT Observation?identifier=…` without id: the server finds the Observation and replaces it, or makes one
        /// with an id of its own.
        case conditionalUpdate
    }

    /// What the output is made of.
    package enum Format: String, Sendable, CaseIterable, BitwiseCopyable {
        /// One bundle per line.
        case bundle
        /// One Observation per line (application/fhir+ndjson), with references by identifier.
        case ndjson
    }

    /// Identifier system of patients.
    package var patientSystem = "urn:kymograph:patient"
    /// Identifier system of devices.
    package var deviceSystem = "urn:kymograph:device"
    /// Identifier system of the Patient that stands for the wearer of a device whose readings name no patient.
    package var deviceSubjectSystem = "urn:kymograph:device-subject"
    /// Identifier system of encounters.
    package var encounterSystem = "urn:kymograph:encounter"
    /// Identifier system of Observations.
    package var observationSystem = "urn:kymograph:observation"
    /// Identifier system of resources that are neither Observations nor what readings are about.
    package var resourceSystem = "urn:kymograph:resource"
    /// The implementation guide that Observations follow.
    package var profile = OutputProfile.none
    /// Identifier of this gateway, which Observations of the profile `phd` refer to: its EUI-64.
    package var gateway = ""
    /// Identifier system of the gateway: EUI-64, as the guide has it.
    package var gatewaySystem = "urn:oid:1.2.840.10004.1.1.1.0.0.1.0.0.1.2680"
    /// The version of FHIR.
    package var version = FHIRVersion.r4
    /// How many digits of a second's fraction Observations say at most.
    package var timePrecision = TimePrecision.source
    /// The type of bundles.
    package var bundleType: BundleType = .transaction
    /// How a server is asked to store Observations.
    package var write: Write = .putByID
    /// What the output is made of.
    package var format: Format = .bundle
    /// Most bytes of samples that an Observation has in one SampledData: those of a longer one go to a
    /// DocumentReference. 0 where all stay.
    package var attachOver = 0
    /// As ``attachOver``, more than any samples have: none leave, and later versions of windows take back the documents
    /// that former ones may have had.
    package static let noneLeaves = Int.max
    /// What `Attachment.hash` is made with; nil to leave it out.
    package var sha1: Digest160?

    /// The defaults.
    package init() {}

    /// Whether Observations carry an id of ours.
    var writesID: Bool { form.writesID }
    /// Whether a server keeps the first version of an Observation that it gets: none may be preliminary.
    package var keepsFirstVersion: Bool {
        format == .bundle && bundleType != .collection && write == .conditionalCreate
    }
    /// Whether Devices that readings describe carry an id of ours: not where a server may have given them one before.
    var writesDeviceID: Bool { form.writesDeviceID }
    /// Whether Observations have the shape of the Personal Health Devices guide.
    package var isPersonalHealth: Bool { profile == .phd }
    /// Whether Observations name the gateway.
    package var namesGateway: Bool { isPersonalHealth && !gateway.isEmpty }
}

/// The implementation guide whose profiles Observations follow besides those of FHIR itself.
package enum OutputProfile: String, Sendable, CaseIterable {
    /// None.
    case none
    /// HL7 Personal Health Devices (`http://hl7.org/fhir/uv/phd`), which is of FHIR R4.
    case phd
}

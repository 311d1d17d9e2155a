import KymographCore

/// A setting of the pipeline that has no effect beside the others.
struct IdleSetting {
    var key: String
    /// Why, in a sentence without final stop.
    var message: String
    /// What to do where it is stated.
    var advice: String

    /// Those of `settings`, stated or not. Settings of a server that is not named are not among them.
    static func all(_ settings: PipelineSettings) -> [IdleSetting] {
        files(settings) + bundles(settings) + receipts(settings)
    }

    private static func receipts(_ settings: PipelineSettings) -> [IdleSetting] {
        let answers = settings.outgoingSinks.compactMap(\.address).contains { $0.kind.capabilities.contains(.answers) }
        if answers { return [] }
        return ["receipts", "receiptSocket"].map { key in
            IdleSetting(
                key: key, message: "it has no effect without a sink that answers for each entry",
                advice: "name a FHIR server or an event hub, or remove it")
        }
    }

    private static func files(_ settings: PipelineSettings) -> [IdleSetting] {
        var idle: [IdleSetting] = []
        let compresses = settings.rotation.compression != .none
        if !compresses {
            idle.append(
                IdleSetting(
                    key: "output.dictionary", message: "it has no effect without compression",
                    advice: "set output.compression to zstd"))
        }
        let places = settings.outgoingSinks.compactMap(\.address).map(\.kind.capabilities)
        guard !places.contains(where: { $0.contains(.files) }), places.contains(where: { $0.contains(.pipe) }) else {
            return idle
        }
        let keys =
            (compresses ? ["output.compression"] : []) + [
                "output.rotateBytes", "output.rotateAge", "output.rotateIdle",
            ]
        return idle
            + keys.map {
                IdleSetting(
                    key: $0, message: "it has no effect on stdout", advice: "name a directory as output.to")
            }
    }

    private static func bundles(_ settings: PipelineSettings) -> [IdleSetting] {
        var idle: [IdleSetting] = []
        if settings.output.keepsFirstVersion, settings.windows.limits.preliminaryEvery > 0 {
            idle.append(
                IdleSetting(
                    key: "limits.preliminaryEvery",
                    message: "it has no effect with conditional-create: a server would keep the first, "
                        + "preliminary Observation for good",
                    advice: "choose put or conditional-update, or remove it"))
        }
        if settings.output.bundleType == .collection {
            idle.append(
                IdleSetting(
                    key: "output.write", message: "it has no effect in collections, which ask nothing of a server",
                    advice: "choose transaction or batch as output.bundle, or leave it out"))
        }
        return idle
    }
}

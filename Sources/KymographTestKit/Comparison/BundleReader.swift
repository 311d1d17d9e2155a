import FoundationEssentials

/// What a FHIR server would hold after the pipeline's output: Observations by id, of each the last version.
///
/// Reads NDJSON whose lines are Bundles or single resources; resources other than Observations are kept apart.
package struct BundleReader: Sendable {
    /// The last version of each Observation, by id.
    package private(set) var observations: [String: JSONTree] = [:]
    /// How often each Observation was written, by id.
    package private(set) var versions: [String: Int] = [:]
    /// Everything else, in order.
    package private(set) var others: [JSONTree] = []
    /// Lines that were Bundles.
    package private(set) var bundles = 0

    /// An empty store.
    package init() {}

    /// Reads the file at `path`.
    ///
    /// - Throws: ``BundleReaderError`` with the line, or what the file system says.
    package init(path: String) throws {
        try read(ndjson: [UInt8](Data(contentsOf: URL(filePath: path))))
    }

    /// Reads more output.
    ///
    /// - Throws: ``BundleReaderError`` with the line that is no bundle or resource.
    package mutating func read(ndjson: [UInt8]) throws(BundleReaderError) {
        for (number, line) in ndjson.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            if line.isEmpty { continue }
            do {
                try accept(JSONTree(parsing: Array(line)))
            } catch let error as JSONTreeError {
                throw BundleReaderError(line: number + 1, message: "\(error.message) at byte \(error.offset)")
            } catch let error as BundleReaderError {
                throw BundleReaderError(line: number + 1, message: error.message)
            } catch {
                throw BundleReaderError(line: number + 1, message: "\(error)")
            }
        }
    }

    private mutating func accept(_ resource: JSONTree) throws(BundleReaderError) {
        switch resource["resourceType"]?.text {
        case "Bundle":
            bundles += 1
            for entry in resource["entry"]?.elements ?? [] {
                if let inner = entry["resource"] { try accept(inner) }
            }
        case "Observation":
            guard let id = resource["id"]?.text else {
                throw BundleReaderError(line: 0, message: "an Observation has no id")
            }
            observations[id] = resource
            versions[id, default: 0] += 1
        case .some: others.append(resource)
        case nil: throw BundleReaderError(line: 0, message: "a resource has no resourceType")
        }
    }

    /// Where this store differs from `other`, one line each; empty when both hold the same Observations.
    ///
    /// - Parameter ignoring: members of an Observation that do not count, such as `status` when one run amended what
    ///   another wrote once.
    package func differences(from other: BundleReader, ignoring: Set<String> = []) -> [String] {
        Set(observations.keys).union(other.observations.keys).sorted().flatMap { id in
            let name = "Observation/\(id)"
            switch (observations[id], other.observations[id]) {
            case (let mine?, let theirs?):
                let lines = mine.without(ignoring).differences(from: theirs.without(ignoring))
                return lines.map { "\(name) \($0)" }
            case (_?, nil): return ["\(name) is only on the left"]
            default: return ["\(name) is only on the right"]
            }
        }
    }
}

/// The output is not what the pipeline should write.
package struct BundleReaderError: Error, Hashable, Sendable {
    /// Line, from 1.
    package var line: Int
    /// What is wrong.
    package var message: String
}

extension JSONTree {
    /// The object without `names`.
    fileprivate func without(_ names: Set<String>) -> JSONTree {
        guard case .object(let members) = self, !names.isEmpty else { return self }
        return .object(members.filter { !names.contains($0.key) })
    }
}

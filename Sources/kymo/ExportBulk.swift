import Kymograph
import KymographCore

/// `kymo export --format bulk`: Observations as files that a FHIR server imports.
extension Export {
    /// Windows that are read at a time: their Observations are in memory together.
    private static let windows = 100

    /// Writes the resources, or leaves nothing of them.
    func exportBulk(_ reader: StoreReader, _ written: inout Written) throws {
        var encoder = try archive.encoder(reader)
        // Of what comes in after this the export may have some.
        let began = WallClock.now()
        let base = baseURL.map { $0.isEmpty || $0.hasSuffix("/") ? $0 : $0 + "/" } ?? ""
        var folder: BulkFolder
        do throws(SinkError) { folder = try BulkFolder(out ?? "", base: base) } catch { throw Self.exit(error) }
        var absence: String?
        do {
            absence = try forEachPage(reader, of: Self.windows) { windows, selected in
                var page: [(series: Int, resources: [[UInt8]])] = []
                for window in windows {
                    guard let all = encoder.observations(of: window) else {
                        ArchiveDamage.report(window)
                        continue
                    }
                    let resources = all.filter { selected.isWanted($0) }
                    if !resources.isEmpty { page.append((window.seriesNumber, resources)) }
                }
                written.begin(page.map(\.series))
                for resource in page.flatMap(\.resources) { try folder.append(resource) }
                written.end()
            }
            let files = try folder.publish(at: began)
            StandardError.write(
                "kymo: \(CountText.of(folder.count, "resource")) in \(CountText.of(files, "file")) and manifest.json "
                    + "in \(out ?? "")\n")
        } catch {
            folder.abandon()
            throw Self.exit(error)
        }
        try Query.refuse(absence)
    }
}

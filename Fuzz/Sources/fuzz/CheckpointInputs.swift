import ChatDomain
import Columns
import Primitives

@testable import EventJournal
@testable import Projections

/// The inputs of the target `checkpoints`: the store's own checkpoint, and the same with one flaw.
enum CheckpointInputs {
    /// Returns every input with its name.
    static func all() throws -> [String: [UInt8]] {
        let models = try CheckpointHarness.validModels()
        let sections = CheckpointHarness.sections(of: models)
        let file = try CheckpointHarness.file(of: sections)
        var inputs = [
            "sound-sections": CheckpointHarness.input(ofSections: sections), "sound-header": [1] + file,
            "sound-file": [2] + file,
        ]
        for (name, sections) in flawed(sections) { inputs[name] = CheckpointHarness.input(ofSections: sections) }
        inputs["report-before-post"] = CheckpointHarness.input(
            ofSections: CheckpointHarness.sections(of: withReportBeforePost(models)))
        // A flaw of the header is found before the sections are read, so the sections are empty.
        let header = try CheckpointHarness.file(of: sections.map { _ in [] })
        for (name, file) in flawed(header) { inputs["header-" + name] = [1] + file }
        inputs["file-flipped-header"] = [2] + flipped(header, at: 33)
        inputs["file-flipped"] = [2] + flipped(file, at: file.count - 100)
        inputs["file-cut"] = [2] + file.dropLast()
        inputs["file-longer"] = [2] + file + [0]
        return inputs
    }

    private static func withReportBeforePost(_ models: StoreModels) -> StoreModels {
        var changed = models
        changed.readModels.views.community.reports = ReportHistory()
        changed.readModels.views.community.reports.append(
            PostKey(models.readModels.identities.posts.messages.count - 1, isReply: false), by: 0, 0, at: 1)
        return changed
    }

    private static func flawed(_ sections: [[UInt8]]) -> [String: [[UInt8]]] {
        var inputs = ["sections-none": sections.map { _ in [] }, "sections-exchanged": sections.reversed()]
        inputs["sections-cut"] = sections.dropLast() + [sections[sections.count - 1].dropLast()]
        inputs["sections-longer"] = sections.dropLast() + [sections[sections.count - 1] + [0]]
        for (index, name) in StoreModels.componentNames.enumerated() {
            func add(_ flaw: String, _ section: [UInt8]) {
                var changed = sections
                changed[index] = section
                inputs[name + "-" + flaw] = changed
            }
            let section = sections[index]
            add("halved", Array(section.prefix(section.count / 2)))
            // The eight bytes after the first number.
            add("ones", section.prefix(8) + [UInt8](repeating: 255, count: 8) + section.dropFirst(16))
        }
        return inputs
    }

    private static func flawed(_ file: [UInt8]) -> [String: [UInt8]] {
        let (firstName, firstLength) = (
            CheckpointHeader.fixedSize, CheckpointHeader.fixedSize + CheckpointHeader.nameByteCount
        )
        func with(_ bytes: [UInt8], at offset: Int) -> [UInt8] {
            var changed = file
            changed.storeBytes(bytes, 0..<bytes.count, at: offset)
            return changed
        }
        return [
            "magic": with([0x58], at: 1), "format-version": with([2], at: 8), "no-sections": with([0, 0], at: 10),
            "few-sections": with([4, 0], at: 10), "many-sections": with([255, 255], at: 10),
            "model-version": with([255], at: 12),
            "journal": with([0, 0, 0, 0], at: 16), "earlier": with([1], at: 32), "inside": with([5], at: 32),
            "beyond": with([UInt8](repeating: 255, count: 8), at: 32), "chain": with([0, 0, 0, 0], at: 40),
            "erasure-mark": with([1], at: 48), "name": with(Array("other".utf8), at: 56),
            "name-not-text": with([255], at: 56),
            "section-name": with([0x58], at: firstName), "section-not-text": with([255], at: firstName),
            "section-length": with([7], at: firstLength),
            "section-huge": with([UInt8](repeating: 255, count: 8), at: firstLength),
            "sections-huge": with([0, 0, 0, 0, 0, 0, 0, 0x40], at: firstLength), "cut": Array(file.prefix(59)),
            "cut-sections": Array(file.prefix(150)),
        ]
    }

    private static func flipped(_ file: [UInt8], at offset: Int) -> [UInt8] {
        var changed = file
        changed[offset] ^= 1
        return changed
    }
}

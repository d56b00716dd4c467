"""Turns any Python value into parts.

Imports go down this list:

    tool_result   `ToolResult`: what a tool returns, collected
    entry         `collect`, the entry
    walk          a value becomes a plain tree with parts as leaves
    nodes         the tree, and how it is cut into parts
    quick         which values are collected in a moment
    libraries     objects of other libraries, by class or protocol
    arrays, tables, charts, displays   pictures, words and files of such objects
    png, excerpts, html_words          how those are made
    file_objects  objects with a media type and content
    open_files    files that a tool has opened, and uploads
    mcp_results   results of MCP tools, as dicts
    blocks        content blocks, as dicts
    objects       models, dataclasses, dates and other Python objects
    sanitize      drafts that weren't collected; needs only the text modules below
    json_text     JSON in text, if it may hold files
    base64_text   bytes, and base64 in text
    data_uris     data URIs in text
    surrogates, pointer_errors   leaves
"""

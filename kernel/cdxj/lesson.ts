// Bytes that the caller writes before it teaches them.

const MAX_LESSON_BYTES: i32 = 2048;

export const lesson: usize = memory.data(2048 + 16, 16);

export function lessonPointer(): usize {
  return lesson;
}

export function maxLessonBytes(): i32 {
  return MAX_LESSON_BYTES;
}
